package io.varve.server.command.set;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.MemberIndex;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.Operands;
import io.varve.server.command.value.WorkMemory;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * Walks over what several sets have in common, together, or one without the others. Confined to its event loop; reused from command to
 * command.
 *
 * <p>Each member is looked for in the other sets, and nothing is noted on the way, as long as that takes little more time than to go through
 * all sets once. Of many sets a union notes what it has had, and a difference marks what another set has: a bit a member.
 */
final class SetAlgebra {
    /** What is asked. */
    enum Operation {
        INTERSECTION, UNION, DIFFERENCE
    }

    /** A union of so many sets looks for each member in the sets before. */
    private static final int FEW_SETS = 4;
    private static final int NONE = -1;

    private final Operands operands;
    private final SetView walked;
    private final SetView probe;
    private final Item item = new Item();
    private final MemberList members = new MemberList();
    private final MemberIndex index = new MemberIndex(members);
    /** The texts of noted members that are integers, and the bits of those that are marked. */
    private final WorkMemory work = new WorkMemory();
    private long textBytes;
    private @Nullable Invocation call;
    /** Which of the operands the probe looks at. */
    private int probed;
    private boolean removesFromFirst;

    /**
     * @param walked a view for the set that is walked over
     * @param probe  one for those in which its members are looked for
     */
    SetAlgebra(Operands operands, SetView walked, SetView probe) {
        this.operands = operands;
        this.walked = walked;
        this.probe = probe;
    }

    /** Hands each member of the result to the sink until it wants no more; whether it has taken all of them. */
    boolean walk(Invocation command, Operation operation, MemberSink sink) {
        call = command;
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

    /** The same for a sink that takes all, and knows what it has: of a union, members come as often as there are sets that have them. */
    void walkForAll(Invocation command, Operation operation, MemberSink sink) {
        if (operation != Operation.UNION) {
            walk(command, operation, sink);
            return;
        }
        call = command;
        removesFromFirst = false;
        for (int i = 0; i < operands.count(); i++) {
            walked(i).forEach(sink);
        }
    }

    /** Whether the last result was made, as Redis makes it, by adding all members of the first set and removing those of the others. */
    boolean removesFromFirst() {
        return removesFromFirst;
    }

    /** The first of the operands. */
    SetView first() {
        return walked(0);
    }

    private Invocation call() {
        return java.util.Objects.requireNonNull(call);
    }

    /** Has the view for a walk look at an operand. */
    private SetView walked(int number) {
        look(number, walked);
        return walked;
    }

    /** Has the view for searches look at an operand, if it does not yet. */
    private SetView probe(int number) {
        if (probed != number) {
            look(number, probe);
            probed = number;
        }
        return probe;
    }

    private void look(int number, SetView view) {
        if (operands.isTree(number)) {
            Key key = call().keyAt(operands.keyNumber(number));
            boolean found = call().session().peek(key, item);
            assert found && item.isTree() : found;
            view.look(call(), key, item);
        } else {
            view.look(operands.address(number), operands.length(number), operands.encoding(number));
        }
    }

    // --- intersection

    private boolean intersection(MemberSink sink) {
        int smallest = 0;
        long least = Long.MAX_VALUE;
        for (int i = 0; i < operands.count(); i++) {
            long size = probe(i).size();
            if (size < least) {
                smallest = i;
                least = size;
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
        // Once for all of them, because what is noted of a text is where it lies.
        work.require(call().cache(), integers * Numbers.MAX_LONG_CHARS);
        textBytes = 0;
        boolean more = true;
        for (int i = 0; more && i < operands.count(); i++) {
            more = walked(i).forEach(member -> !isNew(member) || sink.take(member));
        }
        return more;
    }

    /** Notes a member; false if it was noted before. */
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

    /** Whether to look for each member of the first set in the others takes longer than to go through them: by Redis's own measure. */
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
