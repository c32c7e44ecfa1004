package io.varve.server.command.set;

import io.varve.memory.collection.SetTree;
import io.varve.memory.collection.packed.PackedIntegers;
import io.varve.memory.collection.packed.PackedSet;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.Operands;
import io.varve.server.command.value.Pickable;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.ReplyWriter;

/**
 * A read-only view of a set in any layout: its members, and a cursor over them. Confined to its event loop; reused from
 * command to command. It is valid while the shard of the set's key is locked and the set does not change.
 *
 * <p>It shows a set that was found, or one of {@link Operands}. A missing set has no members.
 */
public class SetView implements Pickable {
    private static final int NOWHERE = 0;

    final SetTree tree = new SetTree();
    private final NumberText text;
    private boolean isTree;
    /** Address of the packed value; 0 if the set is missing or a tree. */
    private long set;
    private int length;
    private int encoding;
    /**
     * Index of the cursor's member among integers, else its address; and its rank, if iteration moved the cursor there.
     */
    private long here;
    private long rank;

    /** @param text memory for the text of an integer member */
    public SetView(NumberText text) {
        this.text = text;
    }

    /** Shows a set that was found. */
    public final void bind(CommandContext command, Key at, Item found) {
        if (found.isTree()) {
            command.session().open(at, found, tree);
            bindTree();
        } else {
            bind(found.valueAddress(), found.valueLength(), found.encoding());
        }
    }

    /** Shows a packed set's value without a key. */
    final void bind(long value, int valueLength, int valueEncoding) {
        set = value;
        length = valueLength;
        encoding = valueEncoding;
        here = NOWHERE;
        isTree = false;
    }

    /** Adds the set to operands, even if it is missing. */
    final void addTo(Operands operands, int keyNumber) {
        if (isTree) {
            operands.addTree(keyNumber);
        } else {
            operands.add(set, length, encoding);
        }
    }

    /** Shows {@link #tree}, which is open. */
    final void bindTree() {
        bindMissing();
        encoding = Encodings.SET_HASHTABLE;
        isTree = true;
    }

    /** Shows a missing set. */
    final void bindMissing() {
        bind(0, 0, Encodings.SET_INTEGERS);
    }

    // --- size and lookup

    final boolean isTree() {
        return isTree;
    }

    /** Whether the set exists. */
    final boolean isPresent() {
        return isTree || set != 0;
    }

    /** The encoding for OBJECT ENCODING. */
    public final int encoding() {
        return isTree ? tree.flags() : encoding;
    }

    /** Whether its members are stored as integers without text: {@link #memberAddress} writes the text. */
    public final boolean hasIntegers() {
        return encoding == Encodings.SET_INTEGERS;
    }

    /** Number of members. */
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

    /** Whether it has the member at another set's cursor. */
    final boolean containsMemberOf(SetView other) {
        if (set != 0 && hasIntegers() && other.hasIntegers()) {
            return PackedIntegers.indexOf(set, length, other.number()) >= 0;
        }
        return size() > 0 && contains(other.memberAddress(), other.memberLength());
    }

    /** Moves the cursor to the member at another set's cursor; returns its rank, or -1 if this set does not have it. */
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

    /** Moves the cursor to the first member; false if there is none. */
    public final boolean first() {
        here = NOWHERE;
        return seek(0);
    }

    /** Moves the cursor to the next member; false if there is none. */
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

    /**
     * Moves the cursor to the member of this rank; false if there is none. Increasing ranks walk over each member once.
     */
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
    public final boolean isSequential() {
        return !isTree && !hasIntegers();
    }

    @Override
    public final long position() {
        return here;
    }

    @Override
    public final void moveToPosition(long place) {
        here = place;
        rank = Long.MAX_VALUE;
    }

    /** Whether the member is an integer in its canonical form; {@link #number} then returns it. */
    final boolean isNumber() {
        return hasIntegers() || Numbers.isLong(memberAddress(), memberLength());
    }

    /** The current member as an integer. */
    public final long number() {
        return hasIntegers() ? PackedIntegers.get(set, (int) here) : Numbers.toLong(memberAddress(), memberLength());
    }

    /** Length of the current member, bytes. */
    public final int memberLength() {
        return isTree ? tree.length() : hasIntegers() ? Numbers.longChars(number()) : PackedSet.length(here);
    }

    /** Address of the current member's bytes; valid until the next call on any set with the same text memory. */
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

    /** Passes each member to the sink until it returns false; returns whether all members were passed. */
    final boolean forEach(MemberSink sink) {
        for (boolean more = first(); more; more = next()) {
            if (!sink.take(this)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Visits the members of one SSCAN call.
     *
     * @param count approximate number of members
     * @return the next cursor, 0 at the end; a packed set is visited completely, as Redis does with an intset or
     *     listpack
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
