package io.varve.server.clustering;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import org.jspecify.annotations.Nullable;

/** What a member knows of its cluster at one moment. Immutable. */
public final class ClusterView {
    private final Member me;
    private final SlotMap map;
    private final Map<Integer, Member> migrating;
    private final Map<Integer, Member> importing;
    private final boolean leased;
    private final ClusterOptions options;
    private final int assignedSlots;
    private final @Nullable Member primary;

    /**
     * @param me this member; the map may not know it
     * @param migrating the slots of this member that are moving away, with the member that receives each
     * @param importing the slots that are moving to this member, with the member that sends each
     * @param leased whether this member may serve
     */
    ClusterView(Member me, SlotMap map, Map<Integer, Member> migrating, Map<Integer, Member> importing, boolean leased,
            ClusterOptions options) {
        Member known = map.member(me.id());
        this.me = known == null ? me : known;
        this.map = map;
        this.migrating = Map.copyOf(migrating);
        this.importing = Map.copyOf(importing);
        this.leased = leased;
        this.options = options;
        assignedSlots = map.assignedSlots();
        String primaryId = this.me.primaryId();
        primary = primaryId == null ? null : map.member(primaryId);
    }

    /** A view with the migrations that the map declares. */
    static ClusterView of(Member me, SlotMap map, boolean leased, ClusterOptions options) {
        Map<Integer, Member> migrating = new HashMap<>();
        Map<Integer, Member> importing = new HashMap<>();
        map.migrations().forEach((slot, target) -> {
            Member owner = map.owner(slot);
            if (owner != null && owner.id().equals(me.id())) {
                migrating.put(slot, target);
            } else if (owner != null && target.id().equals(me.id())) {
                importing.put(slot, owner);
            }
        });
        return new ClusterView(me, map, migrating, importing, leased, options);
    }

    ClusterView withLease(boolean value) {
        return new ClusterView(me, map, migrating, importing, value, options);
    }

    ClusterView withOptions(ClusterOptions value) {
        return new ClusterView(me, map, migrating, importing, leased, value);
    }

    public Member me() {
        return me;
    }

    public SlotMap map() {
        return map;
    }

    /** The slots of this member that are moving away, with the member that receives each. */
    public Map<Integer, Member> migrating() {
        return migrating;
    }

    /** The slots that are moving to this member, with the member that sends each. */
    public Map<Integer, Member> importing() {
        return importing;
    }

    public ClusterOptions options() {
        return options;
    }

    /** Whether a controller lets this member serve; true without controllers. */
    public boolean isLeased() {
        return leased;
    }

    /** Slots that have an owner, from 0 to {@link HashSlot#COUNT}. */
    public int assignedSlots() {
        return assignedSlots;
    }

    /** Whether the member may serve all commands on its slots. */
    public boolean isHealthy() {
        return leased && (assignedSlots == HashSlot.COUNT || !options.requiresFullCoverage());
    }

    /** The primary that this member replicates; null: it is a primary. */
    public @Nullable Member primary() {
        return primary;
    }

    /** The primary that serves a slot; null if no one does. */
    public @Nullable Member owner(int slot) {
        return map.owner(slot);
    }

    /** Whether a member is this one. */
    public boolean isMe(@Nullable Member member) {
        return member != null && member.id().equals(me.id());
    }

    /** Whether this member has the data of a slot: it is the owner, or a replica of the owner. */
    public boolean holds(int slot) {
        Member owner = map.owner(slot);
        return owner != null && (isMe(owner) || primary != null && owner.id().equals(primary.id()));
    }

    /** Whether the slot is moving to this member or away from it. */
    public boolean isOpen(int slot) {
        return !migrating.isEmpty() && migrating.containsKey(slot)
                || !importing.isEmpty() && importing.containsKey(slot);
    }

    /** All members, this one among them even if the map does not know it. */
    public List<Member> members() {
        return map.member(me.id()) == null ? List.of(me) : map.members();
    }
}
