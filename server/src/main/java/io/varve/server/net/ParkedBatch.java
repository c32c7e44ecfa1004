package io.varve.server.net;

import java.util.Objects;

import io.varve.server.command.batch.Batch;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * The batch, or the rest of one, that is parked with its connection: until its next command may run, or until the
 * client has read its replies. Confined to its event loop.
 *
 * <p>It may be parked for ever, as may many others. So it is reduced to little heap memory, or charged for it.
 */
final class ParkedBatch {
    /** Uncharged memory of a batch, bytes: most take less after {@link #slim}. */
    private static final long UNCHARGED_BYTES = 1 << 10;

    private final RequestHeapBudget memory;
    private @Nullable Batch batch;
    private int next;
    private long charged;

    /** @param memory the budget that it is charged to */
    ParkedBatch(RequestHeapBudget memory) {
        this.memory = memory;
    }

    boolean isPresent() {
        return batch != null;
    }

    /** Whether the parked batch has no more commands. */
    boolean isEmpty() {
        return Objects.requireNonNull(batch).commandCount() == 0;
    }

    /** @param from the first command that has not run */
    void park(Batch waiting, int from) {
        batch = waiting;
        next = from;
    }

    /** The first command that has not run. */
    int next() {
        return next;
    }

    /** Takes the batch out; null if there is none. */
    @Nullable
    Batch take() {
        Batch taken = batch;
        batch = null;
        if (charged > 0) {
            memory.release(charged);
            charged = 0;
        }
        return taken;
    }

    /**
     * Reduces the parked batch to what it needs. @return the batch that is free for reuse; null if all of it is needed
     */
    @Nullable
    Batch slim() {
        Batch whole = Objects.requireNonNull(batch);
        Batch rest = whole.slim(next);
        if (rest.equals(whole)) {
            return null;
        }
        batch = rest;
        next = 0;
        return whole;
    }

    /** Charges the batch once. @return false if the heap budget is exhausted */
    boolean charge() {
        long bytes = Objects.requireNonNull(batch).heapBytes() - UNCHARGED_BYTES;
        if (charged > 0 || bytes <= 0) {
            return true;
        }
        if (!memory.tryReserve(bytes)) {
            return false;
        }
        charged = bytes;
        return true;
    }
}
