package io.varve.server.blocking;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.item.ItemType;
import io.varve.server.keys.NamedKey;
import org.jspecify.annotations.Nullable;

/**
 * A client whose command waits for one of some keys. Guarded by the lock of {@link BlockedKeys}, but for what never changes.
 */
public final class Waiter {
    /** Why the waiting is over although nothing has come. */
    public enum End {
        /** The time is over, or CLIENT UNBLOCK says so. */
        TIMEOUT,
        /** CLIENT UNBLOCK ERROR. */
        ERROR
    }

    private final ItemType type;
    private final long deadlineNanos;
    private final long heapBytes;
    private final List<NamedKey> keys;
    private final @Nullable NamedKey target;
    private final List<KeyQueue> queues = new ArrayList<>(1);
    /** Those that are promised to it, the first one first. */
    private final ArrayDeque<KeyQueue> calls = new ArrayDeque<>(2);
    private @Nullable Runnable wakeUp;
    private @Nullable End end;
    /** Its place in all queues: before those who came later. */
    private long order;
    private boolean left;
    private boolean putOff;

    /**
     * @param type          of what it waits for
     * @param keys          for each key of the command that it waits for, by number; some may be the same
     * @param target        the key into which it puts what it finds; null if there is none
     * @param deadlineNanos when it ends, as the ticker tells nanoseconds; {@link Long#MAX_VALUE}: never
     * @param heapBytes     what it has been charged with
     */
    public Waiter(ItemType type, List<NamedKey> keys, @Nullable NamedKey target, long deadlineNanos,
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

    List<NamedKey> keys() {
        return keys;
    }

    @Nullable
    NamedKey target() {
        return target;
    }

    /** Whether it brings keys into relation with each other: what comes of one depends on what comes of another before. */
    boolean relatesKeys() {
        return target != null || keys.size() > 1;
    }

    public long deadlineNanos() {
        return deadlineNanos;
    }

    /** What it has been charged with. */
    public long heapBytes() {
        return heapBytes;
    }

    List<KeyQueue> queues() {
        return queues;
    }

    ArrayDeque<KeyQueue> calls() {
        return calls;
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

    /** Whether it could not look at what it was called for, and nobody was called in its place. */
    boolean isPutOff() {
        return putOff;
    }

    void putOff(boolean value) {
        putOff = value;
    }

    boolean left() {
        return left;
    }

    void leave() {
        left = true;
    }
}
