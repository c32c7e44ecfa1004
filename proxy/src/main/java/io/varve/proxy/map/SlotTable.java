package io.varve.proxy.map;

import java.util.Collections;
import java.util.List;
import java.util.TreeMap;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import org.jspecify.annotations.Nullable;

/** A slot map in the form in which requests are routed: the endpoint of each slot. Immutable. */
public final class SlotTable {
    /** No member, before the first map is known. */
    public static final SlotTable EMPTY = new SlotTable(SlotMap.EMPTY, Kind.CLUSTER);

    /** What the members do with a request that concerns others, too. */
    public enum Kind {
        /** They know no slots: each runs what it gets. */
        PLAIN,
        /** They redirect requests for the slots of others. A message stays at the member that it was published at. */
        CLUSTER,
        /** They redirect, and pass published messages on to each other: a Redis Cluster. */
        CLUSTER_WITH_BUS
    }

    private final SlotMap map;
    private final Kind kind;
    /** By slot, the number of its owner in {@link #primaries}; -1: none. */
    private final short[] ownerNumbers = new short[HashSlot.COUNT];
    private final List<Endpoint> primaries;

    public SlotTable(SlotMap map, Kind kind) {
        this.map = map;
        this.kind = kind;
        TreeMap<String, Member> owners = new TreeMap<>();
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            Member owner = map.owner(slot);
            if (owner != null) {
                owners.put(owner.id(), owner);
            }
        }
        // In an order that does not depend on who reports the map: SCAN's cursors contain an index of this list.
        List<String> ids = List.copyOf(owners.keySet());
        primaries = owners.values().stream().map(member -> new Endpoint(member.host(), member.port())).toList();
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            Member owner = map.owner(slot);
            ownerNumbers[slot] = (short) (owner == null ? -1 : Collections.binarySearch(ids, owner.id()));
        }
    }

    public SlotMap map() {
        return map;
    }

    /** Whether members may redirect requests. */
    public boolean isClustered() {
        return kind != Kind.PLAIN;
    }

    /** Whether a message reaches the subscribers of all members, whichever member it was published at. */
    public boolean passesMessagesOn() {
        return kind == Kind.CLUSTER_WITH_BUS;
    }

    /** @return null if no member serves the slot */
    public @Nullable Endpoint owner(int slot) {
        int number = ownerNumbers[slot];
        return number < 0 ? null : primaries.get(number);
    }

    /** The number of the slot's owner in {@link #primaries}; -1 if no member serves it. */
    public int ownerNumber(int slot) {
        return ownerNumbers[slot];
    }

    /** The members that have slots, in the order of their IDs. */
    public List<Endpoint> primaries() {
        return primaries;
    }
}
