package io.varve.cluster.controller;

import java.util.List;
import java.util.Map;

import io.varve.cluster.map.SlotMap;
import io.varve.cluster.protocol.ChangeResult;
import io.varve.cluster.protocol.Command;

/**
 * What the controllers replicate: the slot map, the generation of each member's process, and pinned identifiers.
 * Immutable.
 *
 * @param generations by member: the log index of its last registration
 * @param lastAbort the epoch with which a migration was last aborted, or lost its source or its target
 * @param identifiers pinned identifiers on the hash ring, by member; members without any are missing
 */
record ClusterState(SlotMap map, Map<String, Long> generations, long lastAbort,
        Map<String, List<Long>> identifiers) {
    static final ClusterState EMPTY = new ClusterState(SlotMap.EMPTY, Map.of(), 0, Map.of());

    ClusterState {
        generations = Map.copyOf(generations);
        identifiers = Map.copyOf(identifiers);
    }

    /**
     * The state after a command, and its reply.
     *
     * @param state this state itself if the command was refused or changes nothing
     */
    record Outcome(ClusterState state, ChangeResult result) {}

    /**
     * Applies a command. It depends on nothing else, so that all controllers come to one state.
     *
     * @param term of the log entry
     * @param index of the log entry
     */
    Outcome apply(Command command, long term, long index) {
        try {
            return new CommandInterpreter(this, term, index).apply(command);
        } catch (RefusedCommandException refused) {
            return refused(String.valueOf(refused.getMessage()));
        } catch (IllegalStateException | IllegalArgumentException invalid) {
            // The values check themselves: such a map or member cannot be.
            return refused(String.valueOf(invalid.getMessage()));
        }
    }

    private Outcome refused(String reason) {
        return new Outcome(this, new ChangeResult(false, map.epoch(), 0, reason));
    }

    /** @return 0 if there is no such member */
    long generation(String id) {
        return generations.getOrDefault(id, 0L);
    }
}
