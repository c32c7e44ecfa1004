package io.varve.cluster.map;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The members of a cluster, the owner of each slot, and the slots that are migrating. Immutable.
 *
 * <p>Its epoch rises with each change, so that of two maps the newer one is known.
 */
public final class SlotMap {
    /** The map without members. */
    public static final SlotMap EMPTY = new Builder().build(0);

    private final long epoch;
    private final List<Member> members;
    private final Map<String, Member> byId;
    /** Null where a slot has no owner. */
    private final @Nullable Member[] owners;
    /** The member that receives the slot; by slot. */
    private final Map<Integer, Member> targets;
    /** The IDs of both ends of migrations. */
    private final Set<String> moving;

    private SlotMap(long epoch, Builder from) {
        this.epoch = epoch;
        members = List.copyOf(from.members.values());
        byId = Map.copyOf(from.members);
        owners = new Member[HashSlot.COUNT];
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            String owner = from.owners[slot];
            owners[slot] = owner == null ? null : from.primary(owner);
        }
        Map<Integer, Member> receivers = new HashMap<>();
        from.targets.forEach((slot, target) -> {
            if (owners[slot] == null || target.equals(from.owners[slot])) {
                throw new IllegalStateException("slot " + slot + " cannot migrate to " + target);
            }
            receivers.put(slot, from.primary(target));
        });
        targets = Map.copyOf(receivers);
        Set<String> ends = new HashSet<>(from.targets.values());
        for (int slot : from.targets.keySet()) {
            Member owner = owners[slot];
            if (owner != null) {
                ends.add(owner.id());
            }
        }
        moving = Set.copyOf(ends);
        for (Member member : members) {
            if (member.primaryId() != null && !from.members.containsKey(member.primaryId())) {
                throw new IllegalStateException("member " + member.id() + " replicates an unknown member");
            }
        }
    }

    public long epoch() {
        return epoch;
    }

    /** In the order in which they were added. */
    public List<Member> members() {
        return members;
    }

    /** @return null if there is no such member */
    public @Nullable Member member(String id) {
        return byId.get(id);
    }

    /** @return the primary that serves the slot; null if no one does */
    public @Nullable Member owner(int slot) {
        return owners[slot];
    }

    /** @return the primary that the slot is migrating to; null if it is not migrating */
    public @Nullable Member target(int slot) {
        return targets.get(slot);
    }

    /** The slots that are migrating, with the member that receives each. */
    public Map<Integer, Member> migrations() {
        return targets;
    }

    /** Whether slots are moving to a primary, or away from it. */
    public boolean isMigrating(Member primary) {
        return moving.contains(primary.id());
    }

    /** The replicas of a primary, in the order of {@link #members}. */
    public List<Member> replicas(Member primary) {
        return members.stream().filter(member -> primary.id().equals(member.primaryId())).toList();
    }

    /** The slots of a primary in ascending order; empty for a replica. */
    public List<SlotRange> slots(Member primary) {
        List<SlotRange> ranges = new ArrayList<>();
        int first = -1;
        for (int slot = 0; slot <= HashSlot.COUNT; slot++) {
            boolean owned = slot < HashSlot.COUNT && primary.equals(owners[slot]);
            if (owned && first < 0) {
                first = slot;
            } else if (!owned && first >= 0) {
                ranges.add(new SlotRange(first, slot - 1));
                first = -1;
            }
        }
        return ranges;
    }

    /** Slots that have an owner, from 0 to {@link HashSlot#COUNT}. */
    public int assignedSlots() {
        int assigned = 0;
        for (Member owner : owners) {
            assigned += owner == null ? 0 : 1;
        }
        return assigned;
    }

    /** A builder that begins with this map. */
    public Builder toBuilder() {
        Builder builder = new Builder();
        members.forEach(builder::member);
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            Member owner = owners[slot];
            builder.owners[slot] = owner == null ? null : owner.id();
        }
        targets.forEach((slot, target) -> builder.targets.put(slot, target.id()));
        return builder;
    }

    /** Collects members and slots. Confined to one thread. */
    public static final class Builder {
        private final Map<String, Member> members = new LinkedHashMap<>();
        private final @Nullable String[] owners = new String[HashSlot.COUNT];
        private final Map<Integer, String> targets = new HashMap<>();

        /** Adds a member, or replaces the one with its ID. */
        public Builder member(Member member) {
            members.put(member.id(), member);
            return this;
        }

        /** Removes a member; it must have no slots, receive none and have no replicas when the map is built. */
        public Builder remove(String id) {
            members.remove(id);
            return this;
        }

        /** Gives a slot to a primary; null: to no one. A migration of the slot ends. */
        public Builder owner(int slot, @Nullable String id) {
            owners[slot] = id;
            targets.remove(slot);
            return this;
        }

        /** Gives slots to a primary. */
        public Builder owner(SlotRange slots, String id) {
            for (int slot = slots.first(); slot <= slots.last(); slot++) {
                owner(slot, id);
            }
            return this;
        }

        /** Begins to move a slot to another primary; null: ends it without a change of the owner. */
        public Builder target(int slot, @Nullable String id) {
            if (id == null) {
                targets.remove(slot);
            } else {
                targets.put(slot, id);
            }
            return this;
        }

        /**
         * Builds the map.
         *
         * @throws IllegalStateException if it names members that it does not have, or a replica as an owner
         */
        public SlotMap build(long epoch) {
            return new SlotMap(epoch, this);
        }

        private Member primary(String id) {
            Member member = members.get(id);
            if (member == null || !member.isPrimary()) {
                throw new IllegalStateException("member " + id + " is not a primary of the cluster");
            }
            return member;
        }
    }
}
