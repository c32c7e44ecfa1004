package io.varve.server.command;

import io.varve.memory.collection.PackedIntegers;
import io.varve.memory.collection.PackedSet;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.KeyLookup.Found;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A set as commands see it, whatever its layout: its members, a cursor over them, and what changes them. Confined to its
 * event loop; reused from command to command, and valid while the shard of its key is locked.
 *
 * <p>It is opened on a key, or looks at one of {@link Operands}. A set that is missing has no members. What changes a
 * set needs one that was opened for it, and leaves the cursor nowhere.
 */
final class SetValue {
    private final NumberText text;
    private final PackedSetEdit edit;
    private final Item item = new Item();
    private @Nullable Invocation call;
    private @Nullable Key key;
    /** Where its value is, 0 if it is missing. */
    private long set;
    private int length;
    private int encoding;
    /** A member: its place among integers, its address otherwise. */
    private long here;

    /** @param text where an integer is written whose bytes are asked for */
    SetValue(NumberText text) {
        this.text = text;
        edit = new PackedSetEdit(text);
    }

    // --- open

    /** Looks the key up for reading; the error for a wrong type is replied. */
    Found open(Invocation command, Key at) {
        return opened(command, at, KeyLookup.find(command, at, item, ItemType.SET));
    }

    /** Looks the key up for a change; the error for a wrong type is replied. */
    Found openForWriting(Invocation command, Key at) {
        return opened(command, at, KeyLookup.findForWriting(command, at, item, ItemType.SET));
    }

    private Found opened(Invocation command, Key at, Found found) {
        call = command;
        key = at;
        if (found == Found.PRESENT) {
            look(item.valueAddress(), item.valueLength(), item.encoding());
        } else {
            look(0, 0, Encodings.SET_INTEGERS);
        }
        return found;
    }

    /** Looks at a set's value without a key. */
    void look(long value, int valueLength, int valueEncoding) {
        set = value;
        length = valueLength;
        encoding = valueEncoding;
    }

    /** Notes it among others; a missing one too. */
    void addTo(Operands operands) {
        operands.add(set, length, encoding);
    }

    // --- look

    /** Whether its members are integers without bytes of their own: {@link #memberAddress} writes them. */
    boolean hasIntegers() {
        return encoding == Encodings.SET_INTEGERS;
    }

    /** How many members it has. */
    long size() {
        return set == 0 ? 0 : hasIntegers() ? PackedIntegers.count(set, length) : PackedSet.count(set);
    }

    boolean contains(long address, int memberLength) {
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
    boolean containsMemberOf(SetValue other) {
        if (set == 0) {
            return false;
        }
        if (hasIntegers() && other.hasIntegers()) {
            return PackedIntegers.indexOf(set, length, other.number()) >= 0;
        }
        return contains(other.memberAddress(), other.memberLength());
    }

    // --- cursor

    /** Goes to the first member; false if there is none. */
    boolean first() {
        return seek(0);
    }

    /** Goes to the next member; false if there is none. */
    boolean next() {
        if (hasIntegers()) {
            return ++here < PackedIntegers.count(set, length);
        }
        here = PackedSet.next(set, length, here);
        return here != PackedSet.NONE;
    }

    /** Goes to the member that so many stand before; false if there is none. */
    boolean seek(long rank) {
        if (rank >= size()) {
            return false;
        }
        if (hasIntegers()) {
            here = rank;
            return true;
        }
        here = PackedSet.first(set, length);
        for (long i = 0; i < rank; i++) {
            here = PackedSet.next(set, length, here);
        }
        return true;
    }

    /** The member that the cursor is at, for {@link #show}. */
    long here() {
        return here;
    }

    /** Goes to a member to look at it, but not on from there. */
    void show(long member) {
        here = member;
    }

    /** Whether the member is an integer, in its one canonical form; {@link #number} then has it. */
    boolean isNumber() {
        return hasIntegers() || Numbers.isLong(PackedSet.address(here), PackedSet.length(here));
    }

    long number() {
        return hasIntegers()
                ? PackedIntegers.get(set, (int) here)
                : Numbers.toLong(PackedSet.address(here), PackedSet.length(here));
    }

    int memberLength() {
        return hasIntegers() ? Numbers.longChars(number()) : PackedSet.length(here);
    }

    /** Where the member's bytes are; valid until another member's are asked for, of any set. */
    long memberAddress() {
        return hasIntegers() ? text.write(number()) : PackedSet.address(here);
    }

    void replyMember(ReplyWriter reply) {
        if (hasIntegers()) {
            reply.bulkLong(number());
        } else {
            reply.bulk(PackedSet.address(here), PackedSet.length(here));
        }
    }

    /** Visits the members until the sink wants no more; whether it has taken all of them. */
    boolean forEach(MemberSink sink) {
        for (boolean more = first(); more; more = next()) {
            if (!sink.take(this)) {
                return false;
            }
        }
        return true;
    }

    /**
     * A call of SSCAN. A set that Redis would hold as an intset or a listpack is visited whole, as Redis does. A larger one
     * is walked from its end to its beginning, and the cursor is how many members are left in front: a deletion moves what
     * is left only towards the beginning and new members come at the end, so nothing that stays is passed over.
     *
     * @return the next cursor, 0 at the end
     */
    long scan(long cursor, int count, MemberSink sink) {
        if (encoding != Encodings.SET_HASHTABLE) {
            for (boolean more = first(); more; more = next()) {
                sink.take(this);
            }
            return 0;
        }
        long members = size();
        long to = cursor <= 0 || cursor > members ? members : cursor;
        long from = Math.max(0, to - count);
        boolean more = seek(from);
        for (long i = from; more && i < to; i++) {
            sink.take(this);
            more = next();
        }
        return from;
    }

    // --- change

    /** Adds the arguments from an index on; answers how many are new. The set is made if it is missing. */
    int addArguments(int from) {
        Invocation command = call();
        edit.begin(command, key(), item, set != 0);
        boolean fresh = false;
        for (int i = from; i < command.argumentCount(); i++) {
            if (!contains(command.argumentAddress(i), command.argumentLength(i))) {
                edit.plan(command.argumentAddress(i), command.argumentLength(i));
                fresh = true;
            }
        }
        if (!fresh) {
            return 0;
        }
        edit.makeRoom();
        int added = 0;
        for (int i = from; i < command.argumentCount(); i++) {
            if (edit.add(command.argumentAddress(i), command.argumentLength(i))) {
                added++;
            }
        }
        edit.finish();
        reopen();
        return added;
    }

    /**
     * Makes the room for a member, and makes the set if it is missing: {@link #add} then cannot fail. False if the set has
     * the member already.
     */
    boolean makeRoomFor(long address, int memberLength) {
        if (contains(address, memberLength)) {
            return false;
        }
        edit.begin(call(), key(), item, set != 0);
        edit.plan(address, memberLength);
        edit.makeRoom();
        return true;
    }

    /** Adds the member that the room was made for. */
    void add(long address, int memberLength) {
        edit.add(address, memberLength);
        edit.finish();
        reopen();
    }

    /** Removes the arguments from an index on that are members; answers how many were. A set without members is deleted. */
    int removeArguments(int from) {
        Invocation command = call();
        int removed = 0;
        for (int i = from; i < command.argumentCount(); i++) {
            long address = command.argumentAddress(i);
            int memberLength = command.argumentLength(i);
            if (removed > 0) {
                removed += edit.remove(address, memberLength) ? 1 : 0;
            } else if (contains(address, memberLength)) {
                makeFit();
                edit.remove(address, memberLength);
                removed++;
            }
        }
        if (removed > 0) {
            edit.finishRemoval();
            reopen();
        }
        return removed;
    }

    /** Makes a set that is there fit to lose members: {@link #remove} then cannot fail. May move it. */
    void makeFit() {
        edit.begin(call(), key(), item, true);
        edit.makeFit();
        reopen();
    }

    /** Removes a member of a set that was made fit for it. */
    void remove(long address, int memberLength) {
        edit.remove(address, memberLength);
        edit.finishRemoval();
        reopen();
    }

    /** Replies and removes members of a set that is there, picked at random. */
    void pop(ReplyWriter reply, long count, long seed) {
        long members = size();
        makeFit();
        RandomPicks picks = new RandomPicks(seed, members, count);
        for (boolean more = first(); more && picks.areMissing(); more = next()) {
            if (picks.takeNext()) {
                replyMember(reply);
            }
        }
        // Only now that the reply is complete, because there may be no room for it.
        edit.removePicked(new RandomPicks(seed, members, count), count);
        edit.finishRemoval();
        reopen();
    }

    private void reopen() {
        if (edit.isGone()) {
            look(0, 0, Encodings.SET_INTEGERS);
        } else {
            look(item.valueAddress(), item.valueLength(), item.encoding());
        }
    }

    private Invocation call() {
        return java.util.Objects.requireNonNull(call);
    }

    private Key key() {
        return java.util.Objects.requireNonNull(key);
    }
}
