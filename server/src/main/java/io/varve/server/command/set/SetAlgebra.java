package io.varve.server.command.set;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.MemberIndex;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.Operands;
import io.varve.server.command.value.WorkMemory;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over the intersection, union or difference of several sets. Confined to its event loop; reused from command
 * to command.
 *
 * <p>Each member is looked up in the other sets without storing anything, as long as that is not much slower than one
 * pass over all sets. A union of many sets stores the members it has visited. A wide difference marks the members that
 * another set has, with one bit per member.
 */
final class SetAlgebra {
    /** The set operations that {@link #walk} computes. */
    enum Operation {
        INTERSECTION, UNION, DIFFERENCE
    }

    /** Maximum number of sets for which a union looks up each member in the earlier sets. */
    private static final int FEW_SETS = 4;
    private static final int NONE = -1;

    private final Operands operands;
    private final SetView walked;
    private final SetView probe;
    private final Item item = new Item();
    private final MemberList members = new MemberList();
    private final MemberIndex index = new MemberIndex(members);
    /** The texts of stored integer members, or the bits of marked members. */
    private final WorkMemory work = new WorkMemory();
    private long textBytes;
    private @Nullable CommandContext context;
    /** Number of the operand that the probe view shows. */
    private int probed;
    private boolean removesFromFirst;

    /**
     * @param walked the view for the set that is iterated over
     * @param probe the view for the sets in which members are looked up
     */
    SetAlgebra(Operands operands, SetView walked, SetView probe) {
        this.operands = operands;
        this.walked = walked;
        this.probe = probe;
    }

    /** Passes each member of the result to the sink until it returns false; returns whether all members were passed. */
    boolean walk(CommandContext command, Operation operation, MemberSink sink) {
        context = command;
        probed = NONE;
        removesFromFirst = operation == Operation.DIFFERENCE && isWideDifference();
        try {
            return switch (operation) {
                case INTERSECTION -> intersection(sink);
                case UNION -> operands.count() <= FEW_SETS ? union(sink) : unionOfMany(sink);
                case DIFFERENCE -> removesFromFirst ? differenceByMarks(sink) : difference(sink);
            };
        } finally {
            index.release();
            members.release();
            work.release();
        }
    }

    /**
     * Passes all members to a sink that removes duplicates itself: a union repeats a member for each set that has it.
     */
    void walkForAll(CommandContext command, Operation operation, MemberSink sink) {
        if (operation != Operation.UNION) {
            walk(command, operation, sink);
            return;
        }
        context = command;
        removesFromFirst = false;
        for (int i = 0; i < operands.count(); i++) {
            walked(i).forEach(sink);
        }
    }

    /**
     * Whether the last difference was computed as Redis does for wide ones: add all members of the first set, then
     * remove those of the others.
     */
    boolean removesFromFirst() {
        return removesFromFirst;
    }

    /** The first operand. */
    SetView first() {
        return walked(0);
    }

    private CommandContext call() {
        return java.util.Objects.requireNonNull(context);
    }

    /** Points the iteration view at an operand. */
    private SetView walked(int number) {
        bind(number, walked);
        return walked;
    }

    /** Points the lookup view at an operand, unless it shows it already. */
    private SetView probe(int number) {
        if (probed != number) {
            bind(number, probe);
            probed = number;
        }
        return probe;
    }

    private void bind(int number, SetView view) {
        if (operands.isTree(number)) {
            Key key = call().keyAt(operands.keyNumber(number));
            boolean found = call().session().peek(key, item);
            assert found && item.isTree() : found;
            view.bind(call(), key, item);
        } else {
            view.bind(operands.address(number), operands.length(number), operands.encoding(number));
        }
    }

    // --- intersection

    private boolean intersection(MemberSink sink) {
        int smallest = 0;
        long min = Long.MAX_VALUE;
        for (int i = 0; i < operands.count(); i++) {
            long size = probe(i).size();
            if (size < min) {
                smallest = i;
                min = size;
            }
        }
        int without = smallest;
        return walked(smallest).forEach(member -> !isInAll(member, without) || sink.take(member));
    }

    private boolean isInAll(SetView member, int without) {
        for (int i = 0; i < operands.count(); i++) {
            if (i != without && !probe(i).containsMemberOf(member)) {
                return false;
            }
        }
        return true;
    }

    // --- union

    private boolean union(MemberSink sink) {
        boolean more = true;
        for (int i = 0; more && i < operands.count(); i++) {
            int before = i;
            more = walked(i).forEach(member -> isInAny(member, 0, before) || sink.take(member));
        }
        return more;
    }

    private boolean isInAny(SetView member, int from, int to) {
        for (int i = from; i < to; i++) {
            if (probe(i).containsMemberOf(member)) {
                return true;
            }
        }
        return false;
    }

    private boolean unionOfMany(MemberSink sink) {
        long integers = 0;
        for (int i = 0; i < operands.count(); i++) {
            SetView set = walked(i);
            integers += set.hasIntegers() ? set.size() : 0;
        }
        // Reserved once for all members, because the list stores the addresses of the texts.
        work.require(call().cache(), integers * Numbers.MAX_LONG_CHARS);
        textBytes = 0;
        boolean more = true;
        for (int i = 0; more && i < operands.count(); i++) {
            more = walked(i).forEach(member -> !isNew(member) || sink.take(member));
        }
        return more;
    }

    /** Stores a member; false if it was stored before. */
    private boolean isNew(SetView member) {
        int before = members.count();
        int length = member.memberLength();
        long address = member.memberAddress();
        if (member.hasIntegers()) {
            Memory.copy(address, work.address() + textBytes, length);
            address = work.address() + textBytes;
        }
        boolean fresh = index.findOrAdd(call().cache(), call().session(), address, length) == before;
        textBytes += fresh && member.hasIntegers() ? length : 0;
        return fresh;
    }

    // --- difference

    /**
     * Whether looking up each member of the first set in the others is slower than a pass over them, by Redis's own
     * measure.
     */
    private boolean isWideDifference() {
        long first = probe(0).size();
        long searches = 0;
        long all = 0;
        for (int i = 0; i < operands.count(); i++) {
            long size = probe(i).size();
            searches += size > 0 ? first : 0;
            all += size;
        }
        return first > 0 && searches / 2 > all;
    }

    private boolean difference(MemberSink sink) {
        return walked(0).forEach(member -> isInAny(member, 1, operands.count()) || sink.take(member));
    }

    private boolean differenceByMarks(MemberSink sink) {
        SetView first = walked(0);
        long words = (first.size() + Long.SIZE - 1) / Long.SIZE;
        work.require(call().cache(), words * Long.BYTES);
        Memory.fill(work.address(), words * Long.BYTES, (byte) 0);
        for (int i = 1; i < operands.count(); i++) {
            probe(i).forEach(member -> {
                mark(first.rankOfMemberOf(member));
                return true;
            });
        }
        long rank = 0;
        for (boolean more = first.first(); more; more = first.next()) {
            if (!isMarked(rank++) && !sink.take(first)) {
                return false;
            }
        }
        return true;
    }

    private void mark(long rank) {
        if (rank != NONE) {
            long word = work.address() + rank / Long.SIZE * Long.BYTES;
            Memory.putLong(word, Memory.getLong(word) | 1L << rank);
        }
    }

    private boolean isMarked(long rank) {
        return (Memory.getLong(work.address() + rank / Long.SIZE * Long.BYTES) & 1L << rank) != 0;
    }
}
