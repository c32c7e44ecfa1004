package io.varve.cluster.controller;

import java.nio.file.Path;
import java.util.List;

import io.varve.cluster.protocol.ControllerAddress;

/**
 * The settings of a controller. Immutable.
 *
 * @param id its own ID among the peers
 * @param bind the address that it listens on; empty: the host of its own address
 * @param directory for the Raft log and the snapshots
 * @param peers all controllers, itself included: one, three or five
 * @param leaseMillis the lease of a member
 * @param heartbeatMillis between heartbeats of a member
 */
public record ControllerConfig(String id, String bind, Path directory, List<ControllerAddress> peers, long leaseMillis,
        long heartbeatMillis) {
    private static final List<Integer> SIZES = List.of(1, 3, 5);

    /** @throws IllegalArgumentException if a setting is wrong; the message names it and what is allowed */
    public ControllerConfig {
        peers = List.copyOf(peers);
        if (!SIZES.contains(peers.size())) {
            throw new IllegalArgumentException("peers: " + peers.size() + " controllers: expected 1, 3 or 5");
        }
        if (peers.stream().noneMatch(peer -> peer.id().equals(id))) {
            throw new IllegalArgumentException("id '" + id + "': expected one of the IDs in peers");
        }
        times(leaseMillis, heartbeatMillis);
    }

    /** The default times. */
    public ControllerConfig(String id, Path directory, List<ControllerAddress> peers) {
        this(id, "", directory, peers, LeaseTimes.DEFAULT.leaseMillis(), LeaseTimes.DEFAULT.heartbeatMillis());
    }

    private static LeaseTimes times(long leaseMillis, long heartbeatMillis) {
        return new LeaseTimes(leaseMillis, heartbeatMillis);
    }

    LeaseTimes times() {
        return times(leaseMillis, heartbeatMillis);
    }

    /** This controller's own address. */
    public ControllerAddress own() {
        return peers.stream().filter(peer -> peer.id().equals(id)).findFirst().orElseThrow();
    }
}
