package io.varve.server.blocking;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.item.ItemType;
import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;

/**
 * A client whose command waits for one of several keys. Guarded by the lock of {@link BlockedKeys}, except for the
 * final fields that hold immutable values.
 *
 * <pre>
 *   waits --served: another thread has run its pop----------> over: its event loop replies
 *     |  \--timeout, CLIENT UNBLOCK-----------------------/
 *     |  \--its re-run command has found something--> left
 *     \-----disconnected----------------------------> left
 * </pre>
 */
public class BlockedClient {
    /** Why the wait ended. */
    public enum End {
        /** Another thread has run the client's pop. */
        SERVED,
        /** The timeout has passed, or CLIENT UNBLOCK ended the wait. */
        TIMEOUT,
        /** CLIENT UNBLOCK ERROR. */
        ERROR,
        /** The server has become a replica. */
        REPLICA
    }

    private final ItemType type;
    private final long deadlineNanos;
    private final long heapBytes;
    private final boolean servedWithoutValue;
    private final List<HeapKey> keys;
    private final @Nullable HeapKey target;
    private final int targetShard;
    private final List<KeyQueue> queues = new ArrayList<>(1);
    private @Nullable Runnable wakeUp;
    private @Nullable End end;
    /** Position in all queues: smaller than that of every later client. */
    private long order;
    private boolean rerunRequested;

    /**
     * @param type the item type that the command waits for
     * @param keys the keys of the command that it waits for, by key number; they may repeat
     * @param target the key that receives the result; null if there is none
     * @param targetShard the shard of the target, if there is one
     * @param deadlineNanos end of the wait, on the ticker's nanosecond clock; {@link Long#MAX_VALUE}: never
     * @param heapBytes bytes charged for this client
     * @param servedWithoutValue whether it is also served when a key is deleted or gets another type
     */
    public BlockedClient(ItemType type, List<HeapKey> keys, @Nullable HeapKey target, int targetShard,
            long deadlineNanos, long heapBytes, boolean servedWithoutValue) {
        this.type = type;
        this.keys = List.copyOf(keys);
        this.target = target;
        this.targetShard = targetShard;
        this.deadlineNanos = deadlineNanos;
        this.heapBytes = heapBytes;
        this.servedWithoutValue = servedWithoutValue;
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

    boolean isServedWithoutValue() {
        return servedWithoutValue;
    }

    List<HeapKey> keys() {
        return keys;
    }

    /** The key that receives the result; null if there is none. */
    public @Nullable HeapKey target() {
        return target;
    }

    int targetShard() {
        return targetShard;
    }

    public long deadlineNanos() {
        return deadlineNanos;
    }

    /** Bytes charged for this client. */
    public long heapBytes() {
        return heapBytes;
    }

    /** The queues that it is in; none once its wait is over. */
    List<KeyQueue> queues() {
        return queues;
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

    /** Whether the client is to run its command again. */
    boolean isRerunRequested() {
        return rerunRequested;
    }

    void rerunRequested(boolean value) {
        rerunRequested = value;
    }
}
