package io.varve.memory.hotkeys;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;

/**
 * The most read keys of the recent past, estimated from one read in {@value #PERIOD} on average. Guarded by its own
 * lock, which a sampled read takes to look at one set of entries.
 *
 * <p>It is the Space-Saving algorithm (Metwally, Agrawal and El Abbadi, ICDT 2005) in small sets: a key that has no
 * entry takes over the entry of its set with the fewest reads, together with their number, which is the bound of its
 * error. A key is estimated by the reads since it has its entry. All numbers are halved every
 * {@value #HALVED_AFTER_SECONDS} seconds, so a key that is no longer read is soon forgotten.
 */
public final class HotKeys {
    /** Reads between two samples, on average. */
    static final int PERIOD = 64;
    /** The most keys that are reported. */
    public static final int MAX_KEYS = 512;
    /** A longer key is not recorded: the entries have a bounded place on the heap. */
    static final int MAX_KEY_BYTES = 512;
    static final int HALVED_AFTER_SECONDS = 10;

    private static final int SET = 8;
    private static final int SETS = MAX_KEYS / SET;
    private static final byte[] NO_KEY = {};
    private static final double NANOS_PER_SECOND = 1e9;
    private static final long HALVED_AFTER_NANOS = TimeUnit.SECONDS.toNanos(HALVED_AFTER_SECONDS);
    /** The hash's lowest bits select the shard, so others select the set. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    /** A key and how often it was read. Guarded by the lock. */
    private static final class Entry {
        private long hash;
        private int database;
        private byte[] key = NO_KEY;
        private double reads;
        /** The reads of earlier owners among them. */
        private double error;

        boolean isOf(Key wanted, int physical) {
            return hash == wanted.hash() && database == physical && key.length == wanted.length();
        }

        double own() {
            return reads - error;
        }

        void halve() {
            reads /= 2;
            error /= 2;
        }
    }

    /**
     * A key with its estimated reads. Immutable.
     *
     * @param key must not be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    public record HotKey(byte[] key, double readsPerSecond) {}

    private final LongSupplier nanoTime;
    private final Entry[] entries = new Entry[MAX_KEYS];
    /** The time that the numbers stand for, without the one since {@link #halvedAt}; it is halved with them. */
    private double earlierNanos;
    private long halvedAt;
    private long probes;

    /** @param nanoTime the time, as of {@link System#nanoTime} */
    public HotKeys(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        halvedAt = nanoTime.getAsLong();
        for (int i = 0; i < MAX_KEYS; i++) {
            entries[i] = new Entry();
        }
    }

    /** A new probe for one thread. */
    public synchronized HotKeyProbe newProbe() {
        return new HotKeyProbe(this, ++probes);
    }

    /** Counts a sampled read. */
    synchronized void sampled(Key key, int database) {
        if (key.length() > MAX_KEY_BYTES) {
            return;
        }
        halveIfDue();
        int first = (int) (key.hash() * SPREAD >>> Long.SIZE - Integer.numberOfTrailingZeros(SETS)) * SET;
        Entry least = entries[first];
        for (int i = first; i < first + SET; i++) {
            Entry entry = entries[i];
            if (entry.isOf(key, database)) {
                entry.reads++;
                return;
            }
            least = entry.reads < least.reads ? entry : least;
        }
        least.hash = key.hash();
        least.database = database;
        least.key = Memory.toArray(key.address(), key.length());
        least.error = least.reads;
        least.reads++;
    }

    private void halveIfDue() {
        for (long now = nanoTime.getAsLong(); now - halvedAt >= HALVED_AFTER_NANOS; halvedAt += HALVED_AFTER_NANOS) {
            earlierNanos = (earlierNanos + HALVED_AFTER_NANOS) / 2;
            for (Entry entry : entries) {
                entry.halve();
            }
            if (entriesAreForgotten()) {
                // Nothing is left to halve for the rest of a long pause.
                halvedAt = now - HALVED_AFTER_NANOS;
            }
        }
    }

    private boolean entriesAreForgotten() {
        for (Entry entry : entries) {
            if (entry.reads >= 1.0 / PERIOD) {
                return false;
            }
        }
        return true;
    }

    /**
     * The most read keys of a database, the most read first.
     *
     * @param database its physical number
     * @param count the most keys
     */
    public synchronized List<HotKey> hottest(int database, int count) {
        halveIfDue();
        double seconds = (earlierNanos + (nanoTime.getAsLong() - halvedAt)) / NANOS_PER_SECOND;
        List<Entry> found = new ArrayList<>();
        for (Entry entry : entries) {
            // Less than half a sample: it was read long ago.
            if (entry.database == database && entry.own() >= 0.5) {
                found.add(entry);
            }
        }
        found.sort(Comparator.comparingDouble(Entry::own).reversed());
        return found.stream().limit(count)
                .map(entry -> new HotKey(entry.key, entry.own() * PERIOD / Math.max(seconds, 1 / NANOS_PER_SECOND)))
                .toList();
    }
}
