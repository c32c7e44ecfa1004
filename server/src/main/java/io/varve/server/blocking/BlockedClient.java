package io.varve.server.blocking;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.item.ItemType;
import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;

/**
 * A client whose command waits for one of several keys. Guarded by the lock of {@link BlockedKeys}, except for the
 * final fields that hold immutable values.
 */
public final class BlockedClient {
    /** Why the wait ended without a result. */
    public enum End {
        /** The timeout has passed, or CLIENT UNBLOCK ended the wait. */
        TIMEOUT,
        /** CLIENT UNBLOCK ERROR. */
        ERROR
    }

    private final ItemType type;
    private final long deadlineNanos;
    private final long heapBytes;
    private final List<HeapKey> keys;
    private final @Nullable HeapKey target;
    private final List<KeyQueue> queues = new ArrayList<>(1);
    /** The queues whose keys are reserved for this client, in the order of the reservations. */
    private final ArrayDeque<KeyQueue> pendingChecks = new ArrayDeque<>(2);
    private @Nullable Runnable wakeUp;
    private @Nullable End end;
    /** Position in all queues: smaller than that of every later client. */
    private long order;
    private boolean ended;
    private boolean deferred;

    /**
     * @param type the item type that the command waits for
     * @param keys the keys of the command that it waits for, by key number; they may repeat
     * @param target the key that receives the result; null if there is none
     * @param deadlineNanos end of the wait, on the ticker's nanosecond clock; {@link Long#MAX_VALUE}: never
     * @param heapBytes bytes charged for this client
     */
    public BlockedClient(ItemType type, List<HeapKey> keys, @Nullable HeapKey target, long deadlineNanos,
            long heapBytes) {
        this.type = type;
        this.keys = List.copyOf(keys);
        this.target = target;
        this.deadlineNanos = deadlineNanos;
        this.heapBytes = heapBytes;
    }

    long order() {
        return order;
    }

    void order(long value) {
        order = value;
    }

    ItemType type() {
        return type;
    }

    List<HeapKey> keys() {
        return keys;
    }

    @Nullable
    HeapKey target() {
        return target;
    }

    /**
     * Whether the command relates keys to each other, so that the outcome for one key depends on earlier changes of
     * another.
     */
    boolean relatesKeys() {
        return target != null || keys.size() > 1;
    }

    public long deadlineNanos() {
        return deadlineNanos;
    }

    /** Bytes charged for this client. */
    public long heapBytes() {
        return heapBytes;
    }

    List<KeyQueue> queues() {
        return queues;
    }

    ArrayDeque<KeyQueue> pendingChecks() {
        return pendingChecks;
    }

    void onWake(Runnable action) {
        wakeUp = action;
    }

    void wake() {
        Runnable action = wakeUp;
        if (action != null) {
            action.run();
        }
    }

    @Nullable
    End end() {
        return end;
    }

    void end(End why) {
        end = why;
    }

    /** Whether the client could not re-run its command when woken, and other clients were woken in its place. */
    boolean isDeferred() {
        return deferred;
    }

    void deferred(boolean value) {
        deferred = value;
    }

    boolean hasEnded() {
        return ended;
    }

    void markEnded() {
        ended = true;
    }
}
