package io.varve.cluster.protocol;

import java.util.List;
import java.util.Map;

import io.varve.cluster.map.SlotMap;

/**
 * The cluster as its leading controller sees it. Immutable.
 *
 * @param leaderId the controller
 * @param term of the leader
 * @param identifiers pinned identifiers on the hash ring, by member; members without any are missing
 * @param liveness by member
 */
public record ClusterView(String leaderId, long term, SlotMap map, Map<String, List<Long>> identifiers,
        Map<String, Liveness> liveness) {
    public ClusterView {
        identifiers = Map.copyOf(identifiers);
        liveness = Map.copyOf(liveness);
    }

    /**
     * What the leader knows of a member's process.
     *
     * @param alive whether a heartbeat or a ping succeeded within the last lease
     * @param leaseMillis rest of the lease; 0: none
     * @param offset replication offset of the last heartbeat; -1: unknown
     */
    public record Liveness(boolean alive, long leaseMillis, long offset) {}
}
