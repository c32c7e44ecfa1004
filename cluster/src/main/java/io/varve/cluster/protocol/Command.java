package io.varve.cluster.protocol;

import java.util.List;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;

/**
 * A change of the cluster that passes the Raft log. Immutable.
 *
 * <p>Each command is safe to repeat: where the cluster has what it asks for, it changes nothing and succeeds.
 */
public sealed interface Command {
    /**
     * A process of a member has started. The reply has the generation of this process: heartbeats of earlier processes
     * are refused from then on.
     *
     * @param member for a known ID only its address counts: role and weight stay
     */
    record Register(Member member) implements Command {}

    /**
     * Removes a member.
     *
     * @param force also removes a primary with slots, which have no owner afterwards; the leader refuses it as long as
     *     the member may have a lease
     */
    record Remove(String id, boolean force) implements Command {}

    /** Makes a member without slots a replica of a primary, or moves a replica to it. */
    record Replicate(String id, String primaryId) implements Command {}

    /** Gives slots without an owner to a primary. */
    record AssignSlots(List<SlotRange> slots, String id) implements Command {
        public AssignSlots {
            slots = List.copyOf(slots);
        }
    }

    /** Declares that slots begin to move to another primary. */
    record BeginMigration(List<SlotRange> slots, String targetId) implements Command {
        public BeginMigration {
            slots = List.copyOf(slots);
        }
    }

    /**
     * Makes the receiver of migrating slots their owner. The source sends it while it serves no command on these slots.
     *
     * @param sourceGeneration of the source's process: one that has started again serves commands
     * @param targetGeneration of the process that has received the keys: one that has started again may have lost them
     * @param epoch of the map with which the source began to send: after a later abort, the target has deleted the keys
     */
    record FinishMigration(List<SlotRange> slots, String sourceId, long sourceGeneration, String targetId,
            long targetGeneration, long epoch) implements Command {
        public FinishMigration {
            slots = List.copyOf(slots);
        }
    }

    /** Ends migrations without a change of the owner. */
    record AbortMigration(List<SlotRange> slots) implements Command {
        public AbortMigration {
            slots = List.copyOf(slots);
        }
    }

    /**
     * Makes a replica the primary. It receives the slots and the other replicas, and the old primary becomes its
     * replica.
     *
     * @param term the term of the leader that saw the primary's lease end: the command has no effect if another leader
     *     logs it. {@link #ANY_TERM}: the primary has stopped writes before the command was sent
     */
    record Promote(String replicaId, String primaryId, long term) implements Command {
        public static final long ANY_TERM = -1;
    }

    /**
     * Makes a replica the primary, as {@link Promote} does. The primary sends it while it serves no command, and the
     * replica has acknowledged all its changes.
     *
     * <p>Generations and epochs only rise. So after a refusal, no copy of the command that is still on its way takes
     * effect.
     *
     * @param primaryGeneration of the sender's process: one that has started again serves commands
     * @param replicaGeneration of the process that has the changes: one that has started again may have lost them
     * @param epoch of the map that the sender has
     */
    record HandOver(String primaryId, long primaryGeneration, String replicaId, long replicaGeneration, long epoch)
            implements
                Command {}

    /** Changes a member's share of the slots. */
    record SetWeight(String id, double weight) implements Command {}

    /** Pins a member's identifiers on the hash ring; without any they are random. */
    record SetIdentifiers(String id, List<Long> identifiers) implements Command {
        public SetIdentifiers {
            identifiers = List.copyOf(identifiers);
        }
    }
}
