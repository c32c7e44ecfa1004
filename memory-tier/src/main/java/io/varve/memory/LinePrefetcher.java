package io.varve.memory;

import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.Shard;

/**
 * Reads the cache lines of several keys at once, so that their cache misses overlap. Confined to the thread of its
 * session; it holds no lock, so the values that it reads are not used.
 */
final class LinePrefetcher {
    /** Keys whose cache lines are prefetched together: as many as a batch has commands. */
    private static final int TOUCHED_AT_ONCE = 128;
    private static final int LINE_BYTES = 64;
    private static final int MAX_LINES = 4;

    private final Shard[] shards;
    private final long[] ahead = new long[TOUCHED_AT_ONCE];
    private final long[] furtherAhead = new long[TOUCHED_AT_ONCE * MAX_LINES];
    /** The sink of prefetched values, so that the compiler keeps the reads. */
    private long touched;

    LinePrefetcher(Shard[] shards) {
        this.shards = shards;
    }

    /** Reads the index lines of keys, then their items. */
    void touch(Key[] keys, int count) {
        for (int from = 0; from < count; from += TOUCHED_AT_ONCE) {
            touch(keys, from, Math.min(TOUCHED_AT_ONCE, count - from));
        }
    }

    /**
     * Computes addresses in one loop and reads them in the next. A core stalls on a read only when its reorder buffer
     * is full, so fewer instructions between two reads let more of them overlap.
     */
    private void touch(Key[] keys, int from, int count) {
        long[] addresses = ahead;
        for (int i = 0; i < count; i++) {
            Key key = keys[from + i];
            addresses[i] = shards[key.shard()].indexLine(key);
        }
        long sum = touched + read(addresses, count);
        for (int i = 0; i < count; i++) {
            Key key = keys[from + i];
            addresses[i] = shards[key.shard()].suggestedItem(key);
        }
        sum += read(addresses, count);
        int further = 0;
        for (int i = 0; i < count; i++) {
            further = furtherLines(addresses[i], further);
        }
        sum += read(furtherAhead, further);
        touched = sum;
    }

    private static long read(long[] addresses, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += Memory.peekLong(addresses[i]);
        }
        return sum;
    }

    /**
     * Records addresses of an item's further lines, at most a few: after them the core's own prefetcher continues. For
     * a one-line item it records the item's end, because a read that hits costs less than a mispredicted branch.
     */
    private int furtherLines(long address, int noted) {
        int count = noted;
        int last = Math.min(ItemLayout.peekSize(address), MAX_LINES * LINE_BYTES) - Long.BYTES;
        int offset = LINE_BYTES;
        do {
            furtherAhead[count++] = address + Math.min(offset, last);
            offset += LINE_BYTES;
        } while (offset <= last);
        return count;
    }
}
