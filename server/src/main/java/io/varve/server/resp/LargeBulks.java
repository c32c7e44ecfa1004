package io.varve.server.resp;

import io.varve.memory.item.ValueRun;
import org.jspecify.annotations.Nullable;

/** Where large bulks are received. Shared by event loops: thread-safe. */
public interface LargeBulks {
    /** A bulk longer than this is received in a run of its own, bytes. */
    int thresholdBytes();

    /**
     * @param longestArgument length of the longest argument in front of it: one of them is the key
     * @return null if memory is refused: the bulk is then dropped as it arrives
     */
    @Nullable
    ValueRun open(int longestArgument, int length);
}
