package io.varve.memory.penalty;

import io.varve.memory.item.Ticker;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.jspecify.annotations.Nullable;

/**
 * Measures penalties: the time from a read that misses to the next write of the same key (pRedis, sections 2.1 and 5).
 * Guarded by its owner's lock: each shard has its own monitor.
 *
 * <p>The paper allocates the item at the miss and stores the time in it. A key that is read and never written would
 * then take memory until it is evicted. This class instead notes misses in a table of fixed length: a hash selects a
 * line of eight ({@link MissLayout}). A miss that has waited longer than the longest penalty counts as empty. In a full
 * line, a new miss replaces the oldest. Keys that are never written thus occupy the table only briefly. If very many
 * keys miss at a time, some penalties are not measured, the longest first.
 *
 * <p>Several misses of a key before the write come from several clients that fill it, or from one that repeatedly reads
 * a missing value. The first of them began the fill that ends with the write, if it was within the scale of
 * penalties. A later miss begins a new fill.
 *
 * <p>20 bits distinguish two keys of one line: one write in a hundred thousand matches another key's miss.
 *
 * <p>A miss carries the class for which it was counted, and the number of later misses of its key. When the write
 * reveals the right class, all of them can be moved to it.
 */
public final class MissMonitor implements AutoCloseable {
    /** The result of {@link #missAgeMicros} if there was no miss before. */
    public static final long NONE = -1;
    /** The longest penalty, µs: a write a minute later has nothing to do with the miss. */
    public static final long LONGEST_MICROS = 60_000_000;

    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    private final Regions regions;
    private final MemoryBudget budget;
    private final Ticker ticker;
    private final long address;
    private final long bytes;
    private final long lineMask;
    private final long longestMicros;
    /** The origin of the ticker's nanoseconds, which may start anywhere. */
    private final long start;
    /** The last miss found by {@link #missAgeMicros}, and its address; 0 if there is none or it has ended. */
    private long foundMiss;
    private long found;

    private MissMonitor(long address, long bytes, long longestMicros, Ticker ticker, Regions regions,
            MemoryBudget budget) {
        this.address = address;
        this.bytes = bytes;
        this.longestMicros = longestMicros;
        this.ticker = ticker;
        this.regions = regions;
        this.budget = budget;
        lineMask = (bytes >>> MissLayout.LINE_SHIFT) - 1;
        start = ticker.nanoTime();
    }

    /**
     * Opens an empty monitor; null if its memory is refused.
     *
     * @param bytes a power of two, {@link Regions#MIN_BYTES} or more: eight for each miss that may wait
     * @param longestMicros the longest penalty, 1 to {@link #LONGEST_MICROS}
     * @throws IllegalArgumentException if a number is out of its range
     */
    public static @Nullable MissMonitor open(long bytes, long longestMicros, Ticker ticker, Regions regions,
            MemoryBudget budget) {
        if (longestMicros < 1 || longestMicros > LONGEST_MICROS) {
            throw new IllegalArgumentException(
                    "A penalty lasts 1 to " + LONGEST_MICROS + " µs at the most, not " + longestMicros);
        }
        long address = BudgetedRegion.open(bytes, regions, budget);
        return address == 0 ? null : new MissMonitor(address, bytes, longestMicros, ticker, regions, budget);
    }

    /**
     * Records a read that has found no item of this key.
     *
     * @param missClass the class for which the miss is counted, less than {@link PenaltyRanges#MAX_CLASSES}. If it
     *     differs from that of the key's earlier misses, those keep their class
     */
    public void missed(long hash, int missClass) {
        long now = micros();
        long mixed = mixed(hash);
        long line = line(mixed);
        int tag = MissLayout.tag(mixed);
        int chosen = 0;
        long chosenAge = -1;
        for (int i = 0; i < MissLayout.MISSES; i++) {
            long miss = MissLayout.get(line, i);
            long age = miss == MissLayout.EMPTY ? Long.MAX_VALUE : MissLayout.age(miss, now);
            if (miss != MissLayout.EMPTY && MissLayout.tagOf(miss) == tag) {
                long since = age >= Math.min(PenaltyRanges.SCALE_MICROS, longestMicros) ? now : now - age;
                // Misses that were counted for another class, or are too old for a write to end them, keep their class.
                boolean another = age > longestMicros || MissLayout.missClass(miss) != missClass;
                int count = another ? 0 : MissLayout.count(miss);
                MissLayout.put(line, i,
                        MissLayout.miss(tag, missClass, Math.min(count + 1, MissLayout.MAX_COUNTED), since));
                return;
            }
            if (age > chosenAge) {
                chosen = i;
                chosenAge = age;
            }
        }
        MissLayout.put(line, chosen, MissLayout.miss(tag, missClass, 1, now));
    }

    /**
     * The age of a key's miss, which is the penalty if the key is written now.
     *
     * @return µs; {@link #NONE} if there was no miss, or it is too old
     */
    public long missAgeMicros(long hash) {
        found = place(hash);
        if (found == 0) {
            return NONE;
        }
        foundMiss = Memory.getLong(found);
        long age = MissLayout.age(foundMiss, micros());
        if (age > longestMicros) {
            // The stored time wraps after some hours: the miss would then appear recent.
            end();
            return NONE;
        }
        return age;
    }

    /** The class for which the misses were counted that {@link #missAgeMicros} found last. */
    public int missClass() {
        return MissLayout.missClass(foundMiss);
    }

    /** The number of misses of its key that {@link #missAgeMicros} found last: 1 to 16, where 16 includes more. */
    public int misses() {
        return MissLayout.count(foundMiss);
    }

    /** Ends the miss that {@link #missAgeMicros} found last, if any. */
    public void end() {
        if (found != 0 && Memory.getLong(found) == foundMiss) {
            Memory.putLong(found, MissLayout.EMPTY);
        }
        found = 0;
    }

    /** The address of the key's miss; 0 if there is none. */
    private long place(long hash) {
        long mixed = mixed(hash);
        long line = line(mixed);
        int tag = MissLayout.tag(mixed);
        for (int i = 0; i < MissLayout.MISSES; i++) {
            long miss = MissLayout.get(line, i);
            if (miss != MissLayout.EMPTY && MissLayout.tagOf(miss) == tag) {
                return line + (long) i * Long.BYTES;
            }
        }
        return 0;
    }

    /** Off-heap bytes. */
    public long bytes() {
        return bytes;
    }

    @Override
    public void close() {
        regions.retire(address, bytes, budget, bytes);
    }

    private long micros() {
        return (ticker.nanoTime() - start) / 1000;
    }

    /** Mixes all bits of the hash, because some of them have already chosen the key's shard. */
    private static long mixed(long hash) {
        long mixed = (hash ^ hash >>> 32) * GOLDEN;
        return mixed ^ mixed >>> 29;
    }

    private long line(long mixed) {
        return address + ((mixed & lineMask) << MissLayout.LINE_SHIFT);
    }
}
