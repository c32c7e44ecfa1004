package io.varve.server.resp;

import io.varve.memory.item.ValueRun;
import org.jspecify.annotations.Nullable;

/** Where large bulks are received. Shared by event loops: thread-safe. */
public interface LargeBulks {
    /** A bulk longer than this is received in a run of its own, bytes. */
    int thresholdBytes();

    /**
     * The same for one connection.
     *
     * @param others hashes of keys that its client is going to work on, beside those of the request
     */
    default LargeBulks beside(java.util.function.Supplier<long[]> others) {
        return this;
    }

    /** The arguments of the request in front of a bulk; any of them may be a key. Valid during the call only. */
    interface Earlier {
        int count();

        long address(int argument);

        /** Bytes; 0 for one that is a large bulk itself. */
        int length(int argument);
    }

    /**
     * @param earlier         what came in front of it: room for the bulk is not made out of the keys among them
     * @param longestArgument length of the longest argument in front of it: one of them is the key
     * @return null if memory is refused: the bulk is then dropped as it arrives
     */
    @Nullable
    ValueRun open(Earlier earlier, int longestArgument, int length);
}
