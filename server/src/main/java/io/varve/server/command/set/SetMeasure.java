package io.varve.server.command.set;

import io.varve.memory.collection.packed.PackedIntegers;
import io.varve.server.command.value.Encodings;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.Numbers;

/**
 * Measures members: their number, their maximum length, and whether all are integers. Confined to its event loop;
 * reused from command to command. The encoding of a set that has only ever had these members follows from that.
 */
public final class SetMeasure {
    private long count;
    private int longest;
    private int width;
    private boolean allNumbers;

    public void clear() {
        count = 0;
        longest = 0;
        width = PackedIntegers.MIN_WIDTH;
        allNumbers = true;
    }

    /** Adds a member. */
    public void add(long address, int length) {
        boolean number = allNumbers && Numbers.isLong(address, length);
        add(length, number, number ? Numbers.toLong(address, length) : 0);
    }

    /** Adds the member at a set's cursor. */
    void add(SetView member) {
        boolean number = allNumbers && member.isNumber();
        add(member.memberLength(), number, number ? member.number() : 0);
    }

    private void add(int length, boolean isNumber, long number) {
        count++;
        longest = Math.max(longest, length);
        allNumbers = isNumber;
        if (isNumber) {
            width = Math.max(width, PackedIntegers.widthOf(number));
        }
    }

    /** Number of members. */
    long count() {
        return count;
    }

    /** The integer width that fits all members, if all are integers. */
    public int width() {
        return width;
    }

    /** The initial encoding of a set of these members. */
    public int encoding(ServerConfig config) {
        if (allNumbers && count <= config.setMaxIntsetEntries()) {
            return Encodings.SET_INTEGERS;
        }
        return count <= config.setMaxListpackEntries() && longest <= config.setMaxListpackValueBytes()
                ? Encodings.SET_LISTPACK
                : Encodings.SET_HASHTABLE;
    }

    /** Whether a set of these members, not all of them integers, stays packed at this size. */
    public boolean staysPacked(ServerConfig config, long bytes) {
        return config.staysPacked(count, bytes)
                || encoding(config) == Encodings.SET_LISTPACK && config.staysListpackSet(count, bytes);
    }

    /** Whether this many members exceed the limits of all encodings but the last. */
    static boolean isBeyond(ServerConfig config, long members) {
        return members > config.setMaxIntsetEntries() && members > config.setMaxListpackEntries();
    }
}
