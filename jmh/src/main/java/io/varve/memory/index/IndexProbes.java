package io.varve.memory.index;

import java.io.PrintStream;
import java.util.Locale;

import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * How many lines of the index does a lookup read? Confined to its caller's thread.
 *
 * <p>It fills an index with random keys, walks it before and after each of its last doublings and at the end, and
 * prints the distribution of entries. A hit reads the home bucket, and the extension bucket or the overflow if its
 * entry is there; a miss reads all that its home bucket has. It cannot see lines of items: every hit reads some, a miss
 * only if a tag is equal by chance.
 *
 * <p>Run: {@code ./varve jmh --probes [KEYS]}
 */
public final class IndexProbes {
    public static final int DEFAULT_KEYS = 10_000_000;
    public static final int MAX_KEYS = 200_000_000;

    /** A shard doubles its table at this load, or, depending on its number, at up to a ninth less. */
    private static final double GROW_LOAD = 0.87;
    private static final int DOUBLINGS_SHOWN = 3;
    private static final int KEY_BYTES = 16;
    private static final long MANY_BYTES = 1L << 36;
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private final Regions regions = new Regions();
    private final KeyHash keyHash = new KeyHash(11);
    private final long scratch = regions.allocate(Regions.MIN_BYTES);
    private final Index index = new Index(new Keys(), new ScalarTagScanner(), regions, new MemoryBudget(MANY_BYTES),
            GROW_LOAD);
    private final PrintStream out;

    /** A location determines its random key, so that ten million keys take no memory. */
    private final class Keys implements KeyVerifier {
        @Override
        public boolean matches(long location, long keyAddress, int keyLength) {
            write(location);
            return Memory.equal(scratch, keyAddress, keyLength);
        }

        @Override
        public long hashOf(long location) {
            write(location);
            return keyHash.hash(scratch, KEY_BYTES);
        }

        @Override
        public int secondHash(long keyAddress, int keyLength) {
            return keyHash.second(keyAddress, keyLength);
        }

        @Override
        public int secondHashOf(long location) {
            write(location);
            return keyHash.second(scratch, KEY_BYTES);
        }

        private void write(long location) {
            long random = (location + 1) * SPREAD;
            Memory.putLong(scratch, random ^ random >>> 29);
            Memory.putLong(scratch + Long.BYTES, random * SPREAD);
        }
    }

    private IndexProbes(PrintStream out) {
        this.out = out;
    }

    public static void print(int keys, PrintStream out) {
        IndexProbes probes = new IndexProbes(out);
        try {
            probes.fill(keys);
        } finally {
            probes.index.release();
        }
    }

    private void fill(int keys) {
        out.println("| state | keys | buckets | load | hit: 1 line | 2 lines | overflow | miss: 1 line | 2 lines "
                + "| overflow searched | lines per hit | lines per miss | longest overflow |");
        out.println("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
        Keys all = new Keys();
        boolean rehashing = false;
        for (long key = 0; key < keys; key++) {
            index.insert(all.hashOf(key), key);
            if (index.rehashing() != rehashing) {
                rehashing = !rehashing;
                if (index.slots() >= keys >>> DOUBLINGS_SHOWN) {
                    print(rehashing ? "before doubling" : "after doubling");
                }
            }
        }
        print(rehashing ? "at the end, doubling" : "at the end");
    }

    private void print(String state) {
        IndexShape shape = index.shape();
        double entries = shape.entries();
        double buckets = shape.buckets();
        double farHits = shape.inOverflow() / entries;
        double nearHits = shape.inHome() / entries;
        double longMisses = shape.extended() / buckets;
        double farMisses = shape.overflowed() / buckets;
        out.printf(Locale.ROOT,
                "| %s | %,d | %,d | %.3f | %.2f %% | %.2f %% | %.3f %% | %.2f %% | %.2f %% | %.3f %% | %.3f | %.3f | %d |%n",
                state, shape.entries(), shape.buckets(), shape.load(), 100 * nearHits,
                100 * (1 - nearHits - farHits), 100 * farHits, 100 * (1 - longMisses), 100 * longMisses,
                100 * farMisses, 2 - nearHits + 2 * farHits, 1 + longMisses + 2 * farMisses, shape.longestOverflow());
    }
}
