package io.varve.cluster.controller;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ChangeResult;
import io.varve.cluster.protocol.Command;
import org.jspecify.annotations.Nullable;

/** Applies one command to a {@link ClusterState}. Confined to one thread. */
final class CommandInterpreter {
    private final ClusterState before;
    private final SlotMap map;
    private final long term;
    private final long index;
    private final SlotMap.Builder builder;
    private final Map<String, Long> generations;
    private final Map<String, List<Long>> identifiers;
    private boolean isMapChanged;
    private boolean isMigrationAborted;
    private long generation;

    /**
     * @param term of the log entry
     * @param index of the log entry
     */
    CommandInterpreter(ClusterState before, long term, long index) {
        this.before = before;
        this.term = term;
        this.index = index;
        map = before.map();
        builder = map.toBuilder();
        generations = new HashMap<>(before.generations());
        identifiers = new HashMap<>(before.identifiers());
    }

    /** @throws RuntimeException if the state does not allow the command */
    ClusterState.Outcome apply(Command command) {
        switch (command) {
            case Command.Register register -> register(register.member());
            case Command.Remove remove -> remove(remove);
            case Command.Replicate replicate -> replicate(replicate);
            case Command.AssignSlots assign -> assign(assign);
            case Command.BeginMigration begin -> begin(begin);
            case Command.FinishMigration finish -> finish(finish);
            case Command.AbortMigration abort -> abort(abort.slots());
            case Command.Promote promote -> promote(promote);
            case Command.HandOver handOver -> handOver(handOver);
            case Command.SetWeight weight -> change(existing(weight.id()).withWeight(weight.weight()));
            case Command.SetIdentifiers pinned -> pin(pinned);
        }
        SlotMap after = isMapChanged ? builder.build(map.epoch() + 1) : map;
        boolean isChanged = isMapChanged || generation != 0;
        long lastAbort = isMigrationAborted ? after.epoch() : before.lastAbort();
        return new ClusterState.Outcome(
                isChanged ? new ClusterState(after, generations, lastAbort, identifiers) : before,
                new ChangeResult(true, after.epoch(), generation, ""));
    }

    private void register(Member member) {
        Member known = map.member(member.id());
        for (Member other : map.members()) {
            if (!other.id().equals(member.id()) && other.address().equals(member.address())) {
                throw new RefusedCommandException("member " + other.id() + " has the address " + member.address());
            }
        }
        if (known == null) {
            String primary = member.primaryId();
            if (primary != null) {
                existingPrimary(primary);
            }
            change(member);
        } else if (known.kind() != member.kind()) {
            throw new RefusedCommandException("member " + member.id() + " is " + known.kind() + ", not "
                    + member.kind());
        } else {
            change(known.withAddress(member.host(), member.port()));
        }
        generation = index;
        generations.put(member.id(), index);
    }

    private void remove(Command.Remove remove) {
        Member member = map.member(remove.id());
        if (member == null) {
            return;
        }
        if (!map.replicas(member).isEmpty()) {
            throw new RefusedCommandException("member " + member.id()
                    + " has replicas: promote one of them, or remove them first");
        }
        boolean isReceiver = map.migrations().containsValue(member);
        if (!remove.force() && (isReceiver || !map.slots(member).isEmpty())) {
            throw new RefusedCommandException("member " + member.id() + " has slots: move them first");
        }
        map.migrations().forEach((slot, target) -> {
            if (target.equals(member)) {
                builder.target(slot, null);
                isMigrationAborted = true;
            }
        });
        for (SlotRange range : map.slots(member)) {
            for (int slot = range.first(); slot <= range.last(); slot++) {
                builder.owner(slot, null);
            }
        }
        builder.remove(member.id());
        generations.remove(member.id());
        identifiers.remove(member.id());
        isMapChanged = true;
    }

    private void replicate(Command.Replicate replicate) {
        Member member = existing(replicate.id());
        if (member.kind() == Member.Kind.PLAIN || existingPrimary(replicate.primaryId()).kind() == Member.Kind.PLAIN) {
            throw new RefusedCommandException("a plain server keeps its own replicas");
        }
        if (member.isPrimary() && (!map.slots(member).isEmpty() || !map.replicas(member).isEmpty()
                || map.migrations().containsValue(member))) {
            throw new RefusedCommandException("member " + member.id()
                    + " has slots or replicas: it cannot become a replica");
        }
        change(member.withPrimary(replicate.primaryId()));
    }

    private void assign(Command.AssignSlots assign) {
        existingPrimary(assign.id());
        forEach(assign.slots(), slot -> {
            Member owner = map.owner(slot);
            if (owner == null) {
                builder.owner(slot, assign.id());
                isMapChanged = true;
            } else if (!owner.id().equals(assign.id())) {
                throw new RefusedCommandException("slot " + slot + " belongs to " + owner.id());
            }
        });
    }

    private void begin(Command.BeginMigration begin) {
        Member target = existingPrimary(begin.targetId());
        forEach(begin.slots(), slot -> {
            Member owner = map.owner(slot);
            Member receiver = map.target(slot);
            if (owner == null) {
                throw new RefusedCommandException("slot " + slot + " has no owner");
            }
            if (receiver != null && !receiver.equals(target)) {
                throw new RefusedCommandException("slot " + slot + " is moving to " + receiver.id());
            }
            if (receiver == null && !owner.equals(target)) {
                builder.target(slot, target.id());
                isMapChanged = true;
            }
        });
    }

    private void finish(Command.FinishMigration finish) {
        requireGeneration(finish.sourceId(), finish.sourceGeneration());
        requireGeneration(finish.targetId(), finish.targetGeneration());
        if (finish.epoch() < before.lastAbort()) {
            throw new RefusedCommandException("migrations were aborted after epoch " + finish.epoch());
        }
        forEach(finish.slots(), slot -> {
            Member owner = map.owner(slot);
            Member receiver = map.target(slot);
            if (owner != null && receiver == null && owner.id().equals(finish.targetId())) {
                return;
            }
            if (owner == null || receiver == null || !owner.id().equals(finish.sourceId())
                    || !receiver.id().equals(finish.targetId())) {
                throw new RefusedCommandException("slot " + slot + " is not moving from " + finish.sourceId() + " to "
                        + finish.targetId());
            }
            builder.owner(slot, receiver.id());
            isMapChanged = true;
        });
    }

    private void requireGeneration(String id, long generation) {
        if (before.generation(id) != generation) {
            throw new RefusedCommandException("member " + id + " has started again");
        }
    }

    private void abort(List<SlotRange> slots) {
        forEach(slots, slot -> {
            if (map.target(slot) != null) {
                builder.target(slot, null);
                isMapChanged = true;
                isMigrationAborted = true;
            }
        });
    }

    private void promote(Command.Promote promote) {
        if (promote.term() != Command.Promote.ANY_TERM && promote.term() != term) {
            throw new RefusedCommandException("the leader of term " + promote.term() + " leads no more");
        }
        Member replica = existing(promote.replicaId());
        Member primary = existing(promote.primaryId());
        if (!hasReplaced(replica, primary)) {
            replace(primary, replica);
        }
    }

    private void handOver(Command.HandOver handOver) {
        Member replica = existing(handOver.replicaId());
        Member primary = existing(handOver.primaryId());
        if (hasReplaced(replica, primary)) {
            return;
        }
        requireGeneration(primary.id(), handOver.primaryGeneration());
        requireGeneration(replica.id(), handOver.replicaGeneration());
        if (handOver.epoch() != map.epoch()) {
            throw new RefusedCommandException("the cluster has changed since epoch " + handOver.epoch());
        }
        if (map.isMigrating(primary)) {
            throw new RefusedCommandException("slots of member " + primary.id() + " are migrating");
        }
        replace(primary, replica);
    }

    /** Whether an earlier copy of the command has had its effect. */
    private static boolean hasReplaced(Member replica, Member primary) {
        return replica.isPrimary() && replica.id().equals(primary.primaryId());
    }

    private void replace(Member primary, Member replica) {
        if (!primary.id().equals(replica.primaryId())) {
            throw new RefusedCommandException("member " + replica.id() + " is no replica of " + primary.id());
        }
        change(replica.withPrimary(null));
        change(primary.withPrimary(replica.id()));
        for (Member other : map.replicas(primary)) {
            if (!other.equals(replica)) {
                change(other.withPrimary(replica.id()));
            }
        }
        for (SlotRange range : map.slots(primary)) {
            builder.owner(range, replica.id());
        }
        map.migrations().forEach((slot, target) -> {
            builder.target(slot, target.equals(primary) ? replica.id() : target.id());
            isMigrationAborted |= target.equals(primary) || primary.equals(map.owner(slot));
        });
    }

    private void pin(Command.SetIdentifiers pinned) {
        existing(pinned.id());
        List<Long> old = pinned.identifiers().isEmpty()
                ? identifiers.remove(pinned.id())
                : identifiers.put(pinned.id(), pinned.identifiers());
        if (!pinned.identifiers().equals(old == null ? List.of() : old)) {
            isMapChanged = true;
        }
    }

    private void change(Member member) {
        if (!member.equals(map.member(member.id()))) {
            builder.member(member);
            isMapChanged = true;
        }
    }

    private Member existing(String id) {
        @Nullable
        Member member = map.member(id);
        if (member == null) {
            throw new RefusedCommandException("there is no member " + id);
        }
        return member;
    }

    private Member existingPrimary(String id) {
        Member member = existing(id);
        if (!member.isPrimary()) {
            throw new RefusedCommandException("member " + id + " is a replica");
        }
        return member;
    }

    private static void forEach(List<SlotRange> slots, IntConsumer action) {
        for (SlotRange range : slots) {
            for (int slot = range.first(); slot <= range.last(); slot++) {
                action.accept(slot);
            }
        }
    }
}
