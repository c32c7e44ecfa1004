package io.varve.memory.locality.curve;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.Consumer;

/**
 * The keys whose next access is awaited, each with its last sampled access. Confined to its recorder.
 *
 * <p>It is a hash table of fixed length with linear probing. A slot is half a cache line, and has a tag in a separate
 * array:
 * <pre>
 *   slot: | hash 64 | start 64 | deadline 64 | bytes 48 | class 8 | level 8 |
 *   tag:  8 bits of the hash, 0 if the slot is empty
 * </pre>
 * For nearly every lookup the key is absent, and the tags alone show that, eight of them in one read. The common case
 * thus stays in the processor's nearer caches and takes one well-predicted branch. A removal leaves no tombstone: the
 * keys that were probed past the slot move up.
 */
final class SampledKeys {
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;
    private static final int SMALLEST = 16;
    private static final byte EMPTY = 0;

    private static final int START = 1;
    private static final int DEADLINE = 2;
    private static final int ITEM = 3;
    private static final int SLOT_SHIFT = 2;
    private static final int CLASS_SHIFT = 8;
    private static final int BYTES_SHIFT = 16;
    private static final long LEVEL_MASK = 0xFF;
    private static final long MAX_BYTES = (1L << Long.SIZE - BYTES_SHIFT) - 1;

    private static final VarHandle EIGHT_TAGS = MethodHandles.byteArrayViewVarHandle(long[].class,
            ByteOrder.LITTLE_ENDIAN);
    private static final int AT_ONCE = Long.BYTES;
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    /** The tags of the first slots are repeated behind the last one's. */
    private final byte[] tags;
    private final long[] slots;
    private final int mask;
    private final int shift;
    private int size;

    /** @param keys the wanted number; one and a half times as many fit in three quarters of the slots */
    SampledKeys(int keys) {
        int length = Math.max(SMALLEST, Integer.highestOneBit(Math.max(1, 2 * keys - 1)) << 1);
        tags = new byte[length + AT_ONCE - 1];
        slots = new long[length << SLOT_SHIFT];
        mask = length - 1;
        shift = Long.SIZE - Integer.numberOfTrailingZeros(length);
    }

    int size() {
        return size;
    }

    /** Whether one more key leaves a slot empty, as every search requires. */
    boolean hasSpace() {
        return size < mask;
    }

    int slots() {
        return mask + 1;
    }

    /** The memory of the table in bytes. */
    long bytes() {
        return tags.length + (long) slots.length * Long.BYTES;
    }

    private int home(long hash) {
        return (int) (hash * GOLDEN >>> shift);
    }

    private static byte tag(long hash) {
        byte tag = (byte) hash;
        return tag == EMPTY ? 1 : tag;
    }

    private void tag(int slot, byte tag) {
        tags[slot] = tag;
        if (slot < AT_ONCE - 1) {
            tags[mask + 1 + slot] = tag;
        }
    }

    private long hash(int slot) {
        return slots[slot << SLOT_SHIFT];
    }

    /**
     * The slot of a key, or -1. Another thread may call it during a change of the table to find out whether a key is
     * present. It finds a key that is present throughout, unless the key moves up at that moment.
     */
    int find(long hash) {
        long wanted = (tag(hash) & 0xFF) * ONES;
        for (int slot = home(hash);; slot = slot + AT_ONCE & mask) {
            long eight = (long) EIGHT_TAGS.get(tags, slot);
            long equal = zeroBytes(eight ^ wanted);
            long empty = zeroBytes(eight);
            // Entries behind the first empty slot belong to other probe sequences.
            for (long left = equal & (empty & -empty) - 1; left != 0; left &= left - 1) {
                int candidate = slot + Long.numberOfTrailingZeros(left) / Byte.SIZE & mask;
                if (hash(candidate) == hash) {
                    return candidate;
                }
            }
            if (empty != 0) {
                return -1;
            }
        }
    }

    /** The high bit of each byte that is zero, and perhaps of some byte above one that is. */
    private static long zeroBytes(long bytes) {
        return bytes - ONES & ~bytes & HIGH_BITS;
    }

    /** Adds a missing key; there must be space. */
    void add(long hash, long start, long itemBytes, int itemClass, long deadline, int level) {
        assert find(hash) < 0 && hasSpace();
        int slot = home(hash);
        while (tags[slot] != EMPTY) {
            slot = slot + 1 & mask;
        }
        int at = slot << SLOT_SHIFT;
        slots[at] = hash;
        slots[at + START] = start;
        slots[at + DEADLINE] = deadline;
        slots[at + ITEM] = Math.min(itemBytes, MAX_BYTES) << BYTES_SHIFT | (long) itemClass << CLASS_SHIFT | level;
        tag(slot, tag(hash));
        size++;
    }

    /** Empties a slot; another key may move into it. */
    void remove(int slot) {
        int gap = slot;
        for (int next = gap + 1 & mask; tags[next] != EMPTY; next = next + 1 & mask) {
            // An entry may move up if its home is not behind the gap.
            if ((next - home(hash(next)) & mask) >= (next - gap & mask)) {
                System.arraycopy(slots, next << SLOT_SHIFT, slots, gap << SLOT_SHIFT, 1 << SLOT_SHIFT);
                tag(gap, tags[next]);
                gap = next;
            }
        }
        tag(gap, EMPTY);
        size--;
    }

    /** Reports violated invariants of the table. For tests. */
    void check(Consumer<String> problems) {
        int used = 0;
        for (int slot = 0; slot <= mask; slot++) {
            if (used(slot)) {
                used++;
                int found = find(hash(slot));
                if (found != slot) {
                    problems.accept("the key of slot " + slot + " is found at " + found);
                }
            }
            if (slot < AT_ONCE - 1 && tags[slot] != tags[mask + 1 + slot]) {
                problems.accept("the tag of slot " + slot + " does not follow the last");
            }
        }
        if (used != size) {
            problems.accept(used + " slots are used, but " + size + " recorded");
        }
    }

    boolean used(int slot) {
        return tags[slot] != EMPTY;
    }

    /** Whether a key's hash begins with these bits. */
    boolean beginsWith(int slot, long prefix, int bits) {
        return bits == 0 || hash(slot) >>> Long.SIZE - bits == prefix;
    }

    /** The clock of the sampled access. */
    long start(int slot) {
        return slots[(slot << SLOT_SHIFT) + START];
    }

    long deadline(int slot) {
        return slots[(slot << SLOT_SHIFT) + DEADLINE];
    }

    void deadline(int slot, long deadline) {
        slots[(slot << SLOT_SHIFT) + DEADLINE] = deadline;
    }

    private long item(int slot) {
        return slots[(slot << SLOT_SHIFT) + ITEM];
    }

    long bytes(int slot) {
        return item(slot) >>> BYTES_SHIFT;
    }

    int itemClass(int slot) {
        return (byte) (item(slot) >>> CLASS_SHIFT);
    }

    /** The level of the sampling rate, which gives the accesses that the sample stands for: {@link SamplingRate}. */
    int level(int slot) {
        return (int) (item(slot) & LEVEL_MASK);
    }

    void level(int slot, int level) {
        slots[(slot << SLOT_SHIFT) + ITEM] = item(slot) & ~LEVEL_MASK | level;
    }
}
