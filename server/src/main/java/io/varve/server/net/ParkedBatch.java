package io.varve.server.net;

import java.util.Objects;

import io.varve.server.command.Batch;
import io.varve.server.resp.ArgumentMemory;
import org.jspecify.annotations.Nullable;

/**
 * The batch, or the rest of one, that waits with its connection: until its next command may run, or the client has read its replies.
 * Confined to its event loop.
 *
 * <p>It may wait for ever, as many others may: then it keeps little of the heap, or is charged with it.
 */
final class ParkedBatch {
    /** What a batch takes without being charged, bytes: most take less when they are {@link #slim}. */
    private static final long UNCHARGED_BYTES = 1 << 10;

    private final ArgumentMemory memory;
    private @Nullable Batch batch;
    private int next;
    private long charged;

    /** @param memory what it is charged to */
    ParkedBatch(ArgumentMemory memory) {
        this.memory = memory;
    }

    boolean isThere() {
        return batch != null;
    }

    /** Whether the batch that is there has no more commands. */
    boolean isOver() {
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

    /** The batch, which waits no more; null if there is none. */
    @Nullable
    Batch take() {
        Batch taken = batch;
        batch = null;
        if (charged > 0) {
            memory.give(charged);
            charged = 0;
        }
        return taken;
    }

    /** Keeps what is needed of the batch that is there. @return the one that is needed no more; null if all of it is */
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

    /** Charges it once with what it takes. @return false if the heap has no room for it */
    boolean charge() {
        long bytes = Objects.requireNonNull(batch).heapBytes() - UNCHARGED_BYTES;
        if (charged > 0 || bytes <= 0) {
            return true;
        }
        if (!memory.take(bytes)) {
            return false;
        }
        charged = bytes;
        return true;
    }
}
