package io.varve.server.command;

import java.util.function.Consumer;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.PackedIntegers;
import io.varve.memory.collection.PackedSet;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;

/**
 * The set that SINTERSTORE and its relatives put under a key: its members are counted first and written in a second walk.
 * Confined to its event loop; reused from command to command.
 */
final class SetResult {
    private final Item item = new Item();
    private long count;
    private long bytes;
    private int longest;
    private int width;
    private boolean allNumbers;
    private int encoding;
    /** Where it is written, and how far it is. */
    private long set;
    private int length;

    /** Begins an empty one. */
    void begin() {
        count = 0;
        bytes = PackedSet.EMPTY_BYTES;
        longest = 0;
        width = PackedIntegers.LEAST_WIDTH;
        allNumbers = true;
    }

    /** Counts a member. */
    boolean measure(SetValue member) {
        int memberLength = member.memberLength();
        count++;
        bytes += PackedSet.memberBytes(memberLength);
        longest = Math.max(longest, memberLength);
        allNumbers = allNumbers && member.isNumber();
        if (allNumbers) {
            width = Math.max(width, PackedIntegers.widthOf(member.number()));
        }
        return true;
    }

    /** How many members it has. */
    long count() {
        return count;
    }

    /**
     * Puts the set under the key, whatever it held, once all of its members were measured.
     *
     * @param operands those that the members come from
     * @param again    walks over the same members once more
     */
    void store(Invocation call, Key key, Operands operands, Consumer<MemberSink> again) {
        CacheSession session = call.session();
        encoding = PackedSetEdit.encodingOf(call, count, allNumbers, longest);
        long needed = encoding == Encodings.SET_INTEGERS ? PackedIntegers.bytes(count, width) : bytes;
        int size = PackedSetEdit.checked(needed);
        if (session.findForWriting(key, item) && operands.have(item.valueAddress())) {
            storeOverOperand(call, key, operands, size, again);
        } else {
            session.put(key, item, ItemType.SET, encoding, size, size, Item.NEVER);
            write(item.valueAddress(), again);
        }
        assert length == size : length + " bytes of " + size;
        session.changed(key, Change.SET);
    }

    /** The set is one of the operands: the result is written behind it, and then takes its place. */
    private void storeOverOperand(Invocation call, Key key, Operands operands, int size,
            Consumer<MemberSink> again) {
        CacheSession session = call.session();
        long before = item.valueAddress();
        int old = item.valueLength();
        int both = PackedSetEdit.checked((long) old + size);
        session.resize(key, item, item.encoding(), both, both);
        operands.moved(before, item.valueAddress());
        write(item.valueAddress() + old, again);
        Memory.copy(item.valueAddress() + old, item.valueAddress(), size);
        session.resize(key, item, encoding, size, size);
        if (item.expires()) {
            session.expire(key, item, Item.NEVER);
        }
    }

    private void write(long at, Consumer<MemberSink> again) {
        set = at;
        if (encoding == Encodings.SET_INTEGERS) {
            PackedIntegers.clear(set, width);
            length = PackedIntegers.EMPTY_BYTES;
            again.accept(this::writeInteger);
        } else {
            PackedSet.clear(set);
            length = PackedSet.EMPTY_BYTES;
            again.accept(this::writeMember);
        }
    }

    private boolean writeInteger(SetValue member) {
        long value = member.number();
        length = PackedIntegers.add(set, length, -1 - PackedIntegers.indexOf(set, length, value), value);
        return true;
    }

    private boolean writeMember(SetValue member) {
        int memberLength = member.memberLength();
        length = PackedSet.append(set, length, member.memberAddress(), memberLength);
        return true;
    }
}
