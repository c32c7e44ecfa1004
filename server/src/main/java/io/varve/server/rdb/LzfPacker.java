package io.varve.server.rdb;

import java.util.Arrays;

import io.varve.memory.offheap.Memory;

/**
 * Compresses by LZF, whose form {@link Lzf} describes. Confined to its user; reused.
 *
 * <p>A table maps hashes of three bytes to where they last occurred. Each match found there is extended as far as it
 * goes; bytes without a match are literals.
 */
final class LzfPacker {
    private static final int HASH_BITS = 13;
    private static final int HASH_MULTIPLIER = 0x9E3779B1;
    private static final int MAX_LITERAL = 32;
    private static final int MAX_DISTANCE = 1 << 13;
    private static final int MIN_MATCH = 3;
    private static final int MAX_MATCH = 264;
    private static final int SHORT_MATCH = 8;

    /**
     * Where the three bytes with a hash occurred last, in the sequence of all texts: {@link #base} is the place of the
     * present text's first byte, and lower places are of earlier texts. So the table is not cleared for each text.
     */
    private final int[] places = new int[1 << HASH_BITS];
    private int base = 1;
    private long to;
    private int out;

    /**
     * Compresses bytes.
     *
     * @param to has space for as many bytes as there are
     * @return the length of the compressed form; 0 if it is not at least four bytes shorter
     */
    int pack(long from, int length, long to) {
        this.to = to;
        out = 0;
        if (base > Integer.MAX_VALUE - length) {
            Arrays.fill(places, 0);
            base = 1;
        }
        int packed = packFrom(from, length);
        base += length;
        return packed;
    }

    private int packFrom(long from, int length) {
        int limit = length - 4;
        int literals = 0;
        int at = 0;
        while (at < length) {
            int match = at + MIN_MATCH <= length ? match(from, at, length) : 0;
            // The next step writes at most a match and a run of literals.
            if (out + (at - literals) + 6 > limit) {
                return 0;
            }
            if (match < MIN_MATCH) {
                at++;
                if (at - literals == MAX_LITERAL) {
                    putLiterals(from, literals, at);
                    literals = at;
                }
                continue;
            }
            putLiterals(from, literals, at);
            putMatch(match, distance);
            int end = at + match;
            for (at++; at < end; at++) {
                if (at + MIN_MATCH <= length) {
                    places[hash(from + at)] = base + at;
                }
            }
            literals = at;
        }
        putLiterals(from, literals, at);
        return out <= limit ? out : 0;
    }

    /** The distance of the last match that was found. */
    private int distance;

    private int match(long from, int at, int length) {
        int hash = hash(from + at);
        int place = places[hash] - base;
        places[hash] = base + at;
        if (place < 0 || at - place > MAX_DISTANCE) {
            return 0;
        }
        int max = Math.min(MAX_MATCH, length - at);
        int count = 0;
        while (count < max && Memory.getByte(from + place + count) == Memory.getByte(from + at + count)) {
            count++;
        }
        distance = at - place;
        return count;
    }

    private static int hash(long address) {
        int bytes = Memory.getByte(address) & 0xFF | (Memory.getByte(address + 1) & 0xFF) << 8
                | (Memory.getByte(address + 2) & 0xFF) << 16;
        return bytes * HASH_MULTIPLIER >>> Integer.SIZE - HASH_BITS;
    }

    private void putLiterals(long from, int first, int end) {
        if (first < end) {
            put(end - first - 1);
            Memory.copy(from + first, to + out, end - first);
            out += end - first;
        }
    }

    private void putMatch(int count, int distance) {
        int stored = count - 2;
        int high = distance - 1 >> 8;
        if (count <= SHORT_MATCH) {
            put(stored << 5 | high);
        } else {
            put(7 << 5 | high);
            put(stored - 7);
        }
        put(distance - 1);
    }

    private void put(int value) {
        Memory.putByte(to + out++, (byte) value);
    }
}
