package io.varve.server.resp;

import io.varve.memory.item.ValueRun;
import org.jspecify.annotations.Nullable;

/** Allocates the runs that large bulks are received into. Thread-safe: event loops share it. */
public interface LargeBulks {
    /** A bulk longer than this is received in its own run, bytes. */
    int thresholdBytes();

    /**
     * These runs for one connection.
     *
     * @param others hashes of further keys that its client will use, beside those of the request
     */
    default LargeBulks beside(java.util.function.Supplier<long[]> others) {
        return this;
    }

    /** The arguments of the request before a bulk; any of them may be a key. Valid during the call only. */
    interface Earlier {
        int count();

        long address(int argument);

        /** Length in bytes; 0 for an argument that is a large bulk itself. */
        int length(int argument);
    }

    /**
     * @param earlier the arguments before it: keys among them are not evicted to reclaim memory for the bulk
     * @param longestArgument length of the longest argument before it: one of them is the key
     * @return null if memory is refused: the bulk is then dropped as it arrives
     */
    @Nullable
    ValueRun open(Earlier earlier, int longestArgument, int length);
}
