package io.varve.server.clustering;

import java.util.List;

import io.varve.cluster.map.SlotRange;

/**
 * Asks the controllers to give slots of this member to the member that has received their keys. Thread-safe: a thread
 * for each target calls it.
 */
@FunctionalInterface
public interface Handover {
    /**
     * Blocks until the outcome is known, however long that takes: this member serves no command on the slots meanwhile.
     * It repeats the request until the controllers have answered. After a refusal, no request of this call takes effect
     * any more.
     *
     * @param targetId the member that has the keys
     * @param targetGeneration the process of that member
     * @param epoch of the map with which this member began to send the keys
     * @return whether the target owns the slots; the new map may be installed a little later
     * @throws InterruptedException if the server is closing
     */
    boolean finish(List<SlotRange> slots, String targetId, long targetGeneration, long epoch)
            throws InterruptedException;
}
