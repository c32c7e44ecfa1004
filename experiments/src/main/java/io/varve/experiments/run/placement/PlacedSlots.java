package io.varve.experiments.run.placement;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.placement.SlotAssignment;
import io.varve.cluster.placement.SlotMove;
import io.varve.experiments.run.placement.PlacementTrial.Slots;

/** Measures a placement of slots: balance, moves at a join and at a leave, and the size of its map. Stateless. */
final class PlacedSlots {
    private static final double NANOS_PER_MILLI = 1e6;

    private PlacedSlots() {}

    /** A placement that may depend on the present map. */
    interface Placing {
        SlotAssignment place(List<Member> members, SlotMap present);
    }

    /**
     * Measures one.
     *
     * @param members of which the first one leaves
     * @param joiner the member that joins
     */
    static PlacementTrial measure(Placing placing, List<Member> members, Member joiner, KeySet keys) {
        long start = System.nanoTime();
        SlotAssignment placed = placing.place(members, SlotMap.EMPTY);
        double millis = (System.nanoTime() - start) / NANOS_PER_MILLI;
        SlotMap map = placed.assignTo(new SlotMap.Builder()).build(1);

        List<Member> more = new ArrayList<>(members);
        more.add(joiner);
        List<SlotMove> joining = placing.place(more, map).moves(map);
        Member leaver = members.getFirst();
        List<SlotMove> leaving = placing.place(members.subList(1, members.size()), map).moves(map);
        long astray = joining.stream().filter(move -> !move.to().equals(joiner.id())).count()
                + leaving.stream().filter(move -> !leaver.id().equals(move.from())).count();

        int[] counts = placed.counts();
        long[] keysOfMembers = new long[counts.length];
        List<Member> order = placed.members();
        for (int i = 0; i < keysOfMembers.length; i++) {
            for (SlotRange range : map.slots(order.get(i))) {
                keysOfMembers[i] += sum(keys.slots(), range);
            }
        }
        return PlacementTrial.of(keysOfMembers, new Slots(Arrays.stream(counts).min().orElseThrow(),
                Arrays.stream(counts).max().orElseThrow(), joining.size(),
                joining.stream().mapToLong(move -> keys.slots()[move.slot()]).sum(), leaving.size(), astray,
                ranges(map).size(), slotsReply(map).length, millis));
    }

    private static long sum(long[] keys, SlotRange range) {
        long sum = 0;
        for (int slot = range.first(); slot <= range.last(); slot++) {
            sum += keys[slot];
        }
        return sum;
    }

    /** The ranges of one owner each, in ascending order. */
    static List<SlotRange> ranges(SlotMap map) {
        List<SlotRange> ranges = new ArrayList<>();
        int first = 0;
        for (int slot = 1; slot <= HashSlot.COUNT; slot++) {
            if (slot == HashSlot.COUNT || !Objects.equals(map.owner(slot), map.owner(first))) {
                ranges.add(new SlotRange(first, slot - 1));
                first = slot;
            }
        }
        return ranges;
    }

    /** The reply to CLUSTER SLOTS in RESP2, for primaries without replicas: what each client of a cluster reads. */
    static byte[] slotsReply(SlotMap map) {
        List<SlotRange> ranges = ranges(map);
        StringBuilder reply = new StringBuilder().append('*').append(ranges.size()).append("\r\n");
        for (SlotRange range : ranges) {
            Member owner = map.owner(range.first());
            if (owner == null) {
                continue;
            }
            reply.append("*3\r\n:").append(range.first()).append("\r\n:").append(range.last()).append("\r\n*3\r\n$")
                    .append(owner.host().length()).append("\r\n").append(owner.host()).append("\r\n:")
                    .append(owner.port()).append("\r\n$").append(owner.id().length()).append("\r\n")
                    .append(owner.id()).append("\r\n");
        }
        return reply.toString().getBytes(StandardCharsets.US_ASCII);
    }
}
