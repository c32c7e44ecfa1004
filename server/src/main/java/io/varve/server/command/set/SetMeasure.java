package io.varve.server.command.set;

import io.varve.memory.collection.PackedIntegers;
import io.varve.server.command.value.Encodings;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.Numbers;

/**
 * What members come to: how many there are, how long, and whether all are integers; and so what a set is that has only ever had
 * these. Confined to its event loop; reused from command to command.
 */
public final class SetMeasure {
    private long count;
    private int longest;
    private int width;
    private boolean allNumbers;

    /** Begins anew. */
    public void clear() {
        count = 0;
        longest = 0;
        width = PackedIntegers.LEAST_WIDTH;
        allNumbers = true;
    }

    /** One more member. */
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

    /** How many there are. */
    long count() {
        return count;
    }

    /** The width that all of them fit, if they are integers. */
    public int width() {
        return width;
    }

    /** The encoding of a set of these members, whatever comes of them later. */
    public int encoding(ServerConfig config) {
        if (allNumbers && count <= config.setMaxIntsetEntries()) {
            return Encodings.SET_INTEGERS;
        }
        return count <= config.setMaxListpackEntries() && longest <= config.setMaxListpackValueBytes()
                ? Encodings.SET_LISTPACK
                : Encodings.SET_HASHTABLE;
    }

    /** Whether a set of these members, not all of them integers, stays in one item of so many bytes. */
    public boolean staysPacked(ServerConfig config, long bytes) {
        return config.staysPacked(count, bytes)
                || encoding(config) == Encodings.SET_LISTPACK && config.staysListpackSet(count, bytes);
    }

    /** Whether a set of so many members has the last encoding whatever they are. */
    static boolean isBeyond(ServerConfig config, long members) {
        return members > config.setMaxIntsetEntries() && members > config.setMaxListpackEntries();
    }
}
