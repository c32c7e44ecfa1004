package io.varve.server.resp;

import java.util.ArrayList;
import java.util.List;

/**
 * The offsets and lengths of the arguments of the request that is being decoded. Confined to the event loop of its
 * connection.
 *
 * <p>Up to {@link RequestHeapBudget#FREE_ENTRIES} are in one array that doubles. The rest is in blocks of equal size,
 * so that a giant request causes no entry to be copied, or charged, twice.
 */
final class ArgumentTable {
    static final int BLOCK_ENTRIES = 16 << 10;
    private static final int INITIAL_ENTRIES = 16;
    private static final int BLOCK_SHIFT = Integer.numberOfTrailingZeros(BLOCK_ENTRIES);

    private long[] first = new long[INITIAL_ENTRIES];
    private final List<long[]> blocks = new ArrayList<>(0);
    private int count;

    int count() {
        return count;
    }

    /** Whether the next entry needs a new block, which the caller charges and creates by {@link #addBlock}. */
    boolean needsBlock() {
        int behind = count - RequestHeapBudget.FREE_ENTRIES;
        return behind >= 0 && behind >> BLOCK_SHIFT == blocks.size();
    }

    void addBlock() {
        blocks.add(new long[BLOCK_ENTRIES]);
    }

    void add(int offset, int length) {
        long entry = (long) offset << Integer.SIZE | length & 0xFFFF_FFFFL;
        int behind = count - RequestHeapBudget.FREE_ENTRIES;
        if (behind >= 0) {
            blocks.get(behind >> BLOCK_SHIFT)[behind & BLOCK_ENTRIES - 1] = entry;
        } else {
            if (count == first.length) {
                first = java.util.Arrays.copyOf(first, 2 * count);
            }
            first[count] = entry;
        }
        count++;
    }

    int offset(int index) {
        return (int) (entry(index) >>> Integer.SIZE);
    }

    int length(int index) {
        return (int) entry(index);
    }

    private long entry(int index) {
        int behind = index - RequestHeapBudget.FREE_ENTRIES;
        return behind < 0 ? first[index] : blocks.get(behind >> BLOCK_SHIFT)[behind & BLOCK_ENTRIES - 1];
    }

    /** Drops the blocks and their entries. */
    void dropBlocks() {
        count = Math.min(count, RequestHeapBudget.FREE_ENTRIES);
        blocks.clear();
    }

    /** Drops all entries, and releases the memory of a giant request. */
    void clear() {
        count = 0;
        if (!blocks.isEmpty()) {
            blocks.clear();
            first = new long[INITIAL_ENTRIES];
        }
    }
}
