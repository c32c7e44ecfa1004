package io.varve.server.command.set;

import io.varve.memory.collection.PackedIntegers;
import io.varve.memory.collection.PackedSet;
import io.varve.memory.collection.SetTree;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.Operands;
import io.varve.server.command.value.Pickable;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.ReplyWriter;

/**
 * A look at a set, whatever its layout: its members, and a cursor over them. Confined to its event loop; reused from command to
 * command, and valid while the shard of the set's key is locked and nobody changes the set.
 *
 * <p>It looks at a set that was found, or at one of {@link Operands}. A set that is missing has no members.
 */
public class SetView implements Pickable {
    private static final int NOWHERE = 0;

    final SetTree tree = new SetTree();
    private final NumberText text;
    private boolean isTree;
    /** Where its value is, 0 if it is missing or a tree. */
    private long set;
    private int length;
    private int encoding;
    /** A member: its place among integers, its address otherwise; and how many stand in front of it if the cursor walked there. */
    private long here;
    private long rank;

    /** @param text where an integer is written whose bytes are asked for */
    public SetView(NumberText text) {
        this.text = text;
    }

    /** Looks at a set that was found. */
    public final void look(Invocation command, Key at, Item found) {
        if (found.isTree()) {
            command.session().open(at, found, tree);
            lookAtTree();
        } else {
            look(found.valueAddress(), found.valueLength(), found.encoding());
        }
    }

    /** Looks at a packed set's value without a key. */
    final void look(long value, int valueLength, int valueEncoding) {
        set = value;
        length = valueLength;
        encoding = valueEncoding;
        here = NOWHERE;
        isTree = false;
    }

    /** Notes it among others; a missing one too. */
    final void addTo(Operands operands, int keyNumber) {
        if (isTree) {
            operands.addTree(keyNumber);
        } else {
            operands.add(set, length, encoding);
        }
    }

    /** Looks at a tree that was made, and is open. */
    final void lookAtTree() {
        lookAtNothing();
        encoding = Encodings.SET_HASHTABLE;
        isTree = true;
    }

    /** Looks at a set that is missing. */
    final void lookAtNothing() {
        look(0, 0, Encodings.SET_INTEGERS);
    }

    // --- look

    final boolean isTree() {
        return isTree;
    }

    /** Whether it is there. */
    final boolean isPresent() {
        return isTree || set != 0;
    }

    /** What OBJECT ENCODING tells. */
    public final int encoding() {
        return isTree ? tree.flags() : encoding;
    }

    /** Whether its members are integers without bytes of their own: {@link #memberAddress} writes them. */
    public final boolean hasIntegers() {
        return encoding == Encodings.SET_INTEGERS;
    }

    /** How many members it has. */
    @Override
    public final long size() {
        if (isTree) {
            return tree.size();
        }
        return set == 0 ? 0 : hasIntegers() ? PackedIntegers.count(set, length) : PackedSet.count(set);
    }

    /** Whether these bytes are a member. */
    public final boolean contains(long address, int memberLength) {
        if (isTree) {
            return tree.find(address, memberLength);
        }
        if (set == 0) {
            return false;
        }
        if (hasIntegers()) {
            return Numbers.isLong(address, memberLength)
                    && PackedIntegers.indexOf(set, length, Numbers.toLong(address, memberLength)) >= 0;
        }
        return PackedSet.find(set, length, address, memberLength) != PackedSet.NONE;
    }

    /** Whether it has the member that another set's cursor is at. */
    final boolean containsMemberOf(SetView other) {
        if (set != 0 && hasIntegers() && other.hasIntegers()) {
            return PackedIntegers.indexOf(set, length, other.number()) >= 0;
        }
        return size() > 0 && contains(other.memberAddress(), other.memberLength());
    }

    /** Goes to the member that another set's cursor is at; answers how many stand in front of it, or -1 if it is none. */
    final long rankOfMemberOf(SetView other) {
        if (!containsMemberOf(other)) {
            return -1;
        }
        if (isTree) {
            return tree.rank();
        }
        if (hasIntegers()) {
            long number = other.hasIntegers()
                    ? other.number()
                    : Numbers.toLong(other.memberAddress(), other.memberLength());
            return PackedIntegers.indexOf(set, length, number);
        }
        long member = PackedSet.find(set, length, other.memberAddress(), other.memberLength());
        boolean more = first();
        while (more && here != member) {
            more = next();
        }
        return rank;
    }

    // --- cursor

    /** Goes to the first member; false if there is none. */
    public final boolean first() {
        here = NOWHERE;
        return seek(0);
    }

    /** Goes to the next member; false if there is none. */
    @Override
    public final boolean next() {
        if (isTree) {
            return tree.next();
        }
        if (hasIntegers()) {
            return ++here < PackedIntegers.count(set, length);
        }
        rank++;
        here = PackedSet.next(set, length, here);
        return here != PackedSet.NONE;
    }

    /** Goes to the member that so many stand before; false if there is none. Who goes upwards walks over each of them once. */
    @Override
    public final boolean seek(long number) {
        if (isTree) {
            return tree.seek(number);
        }
        if (number >= size()) {
            return false;
        }
        if (hasIntegers()) {
            here = number;
            return true;
        }
        if (here == NOWHERE || rank > number) {
            here = PackedSet.first(set, length);
            rank = 0;
        }
        while (rank < number) {
            next();
        }
        return true;
    }

    @Override
    public final boolean isWalked() {
        return !isTree && !hasIntegers();
    }

    @Override
    public final long here() {
        return here;
    }

    @Override
    public final void show(long place) {
        here = place;
        rank = Long.MAX_VALUE;
    }

    /** Whether the member is an integer, in its one canonical form; {@link #number} then has it. */
    final boolean isNumber() {
        return hasIntegers() || Numbers.isLong(memberAddress(), memberLength());
    }

    /** The current member of a set of integers. */
    public final long number() {
        return hasIntegers() ? PackedIntegers.get(set, (int) here) : Numbers.toLong(memberAddress(), memberLength());
    }

    /** Bytes of the current member. */
    public final int memberLength() {
        return isTree ? tree.length() : hasIntegers() ? Numbers.longChars(number()) : PackedSet.length(here);
    }

    /** Where the member's bytes are; valid until another member's are asked for, of any set. */
    public final long memberAddress() {
        return isTree ? tree.address() : hasIntegers() ? text.write(number()) : PackedSet.address(here);
    }

    final void replyMember(ReplyWriter reply) {
        if (hasIntegers()) {
            reply.bulkLong(number());
        } else {
            reply.bulk(memberAddress(), memberLength());
        }
    }

    /** Visits the members until the sink wants no more; whether it has taken all of them. */
    final boolean forEach(MemberSink sink) {
        for (boolean more = first(); more; more = next()) {
            if (!sink.take(this)) {
                return false;
            }
        }
        return true;
    }

    /**
     * A call of SSCAN.
     *
     * @param count about how many
     * @return the next cursor, 0 at the end; a packed set is visited whole, as an intset or a listpack of Redis is
     */
    final long scan(long cursor, int count, MemberSink sink) {
        if (isTree) {
            return tree.scan(cursor, count, () -> sink.take(this));
        }
        for (boolean more = first(); more; more = next()) {
            sink.take(this);
        }
        return 0;
    }
}
