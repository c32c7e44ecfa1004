package io.varve.server.command.stream;

import java.util.Arrays;

import io.varve.memory.collection.StreamTree;

/**
 * Counts the nodes that Redis's radix tree has for the IDs of a stream's blocks, for XINFO. Confined to its event loop.
 *
 * <p>There is a node for each ID's end, for each prefix with several continuations, and for each further run of bytes
 * between two of these. The IDs come in their order, so the prefixes with several continuations on the way to the last
 * one form a stack.
 */
final class RadixTreeSize {
    private static final int ID_BYTES = 2 * Long.BYTES;
    /** The length of the prefix that is no prefix of any ID. */
    private static final int NONE = -1;
    private static final int MAX_COUNTED_BLOCKS = 10_000;

    /** Lengths of open prefixes with several continuations. */
    private final int[] open = new int[ID_BYTES];
    private int opened;
    private long nodes;
    private long ids;
    private long lastMs;
    private long lastSeq;
    /** Length of the longest prefix that the last ID shares with the one before. */
    private int sharedBefore = NONE;

    RadixTreeSize() {
        Arrays.fill(open, NONE);
    }

    /** The nodes for the blocks of a stream; an estimate from the first ones if there are very many. */
    static long of(StreamTree blocks) {
        RadixTreeSize size = new RadixTreeSize();
        long counted = 0;
        for (boolean more = blocks.first(); more && counted < MAX_COUNTED_BLOCKS; more = blocks.next()) {
            size.add(blocks.blockMs(), blocks.blockSeq());
            counted++;
        }
        return counted < MAX_COUNTED_BLOCKS ? size.nodes() : size.nodes() * blocks.size() / counted;
    }

    /** Adds the next ID. */
    void add(long ms, long seq) {
        if (ids > 0) {
            int shared = ms != lastMs
                    ? Long.numberOfLeadingZeros(ms ^ lastMs) / Byte.SIZE
                    : Long.BYTES + Long.numberOfLeadingZeros(seq ^ lastSeq) / Byte.SIZE;
            endLast(shared);
            if (opened == 0 || open[opened - 1] < shared) {
                open[opened++] = shared;
            }
            sharedBefore = shared;
        }
        ids++;
        lastMs = ms;
        lastSeq = seq;
    }

    /** Counts the last ID, and the prefixes that the next one does not have. */
    private void endLast(int shared) {
        count(ID_BYTES, Math.max(sharedBefore, shared));
        while (opened > 0 && open[opened - 1] > shared) {
            opened--;
            count(open[opened], Math.max(opened == 0 ? NONE : open[opened - 1], shared));
        }
    }

    /** Counts a node, and another for the run of bytes in front of it, which begins behind its parent. */
    private void count(int length, int parentLength) {
        nodes += length > parentLength + 1 ? 2 : 1;
    }

    /** The number of nodes. */
    long nodes() {
        if (ids == 0) {
            return 1;
        }
        endLast(NONE);
        return nodes;
    }
}
