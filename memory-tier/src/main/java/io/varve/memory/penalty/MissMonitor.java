package io.varve.memory.penalty;

import io.varve.memory.item.Ticker;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.jspecify.annotations.Nullable;

/**
 * Measures penalties: the time from a read that misses to the write of the same key that follows it (pRedis, sections 2.1 and 5). Guarded by its
 * owner's lock: a shard has one of its own.
 *
 * <p>The paper makes room for the item at the miss and notes the time there. A key that is asked for and never written would so take memory
 * until somebody evicts it. Here misses are noted in a table of a fixed length: a line of eight ({@link MissLayout}) for each hash. A miss
 * that has waited longer than a penalty may last is as good as none; in a line that is full the one that has waited longest gives way. So keys
 * that never come back take no memory of others for long, and where very many miss at a time some penalties are not measured, the longest
 * first.
 *
 * <p>A key of which there are several misses before the write has several clients that fill it, or one that asks again and again for what is
 * nowhere. The first of them began the fill that ends with the write, if it was within the scale of penalties; a miss that comes later than
 * that begins anew.
 *
 * <p>Two keys of one line are told apart by 20 bits: one write in a hundred thousand takes another key's miss for its own.
 *
 * <p>With a miss goes the class for which it was counted, and how often its key was missed since, so that all of them can be counted for another class
 * when the write tells which it is.
 */
public final class MissMonitor implements AutoCloseable {
    /** What {@link #written} answers where no miss came before. */
    public static final long NONE = -1;
    /** Longer than this, µs, no fill takes: what takes a minute is not what the miss has asked for. */
    public static final long LONGEST_MICROS = 60_000_000;

    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    private final Regions regions;
    private final MemoryBudget budget;
    private final Ticker ticker;
    private final long address;
    private final long bytes;
    private final long lineMask;
    private final long longestMicros;
    /** Of the ticker's nanoseconds, which may begin anywhere. */
    private final long start;
    /** What {@link #waited} found last, and where; 0: nowhere, or it has ended. */
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
     * A monitor with no misses; null if its memory is refused.
     *
     * @param bytes         a power of two, {@link Regions#MIN_BYTES} or more: eight for each miss that may wait
     * @param longestMicros a penalty may last, 1 to {@link #LONGEST_MICROS}
     * @throws IllegalArgumentException if a number is out of its range
     */
    public static @Nullable MissMonitor open(long bytes, long longestMicros, Ticker ticker, Regions regions,
            MemoryBudget budget) {
        if (longestMicros < 1 || longestMicros > LONGEST_MICROS) {
            throw new IllegalArgumentException(
                    "A penalty lasts 1 to " + LONGEST_MICROS + " µs at the most, not " + longestMicros);
        }
        long address = Charged.open(bytes, regions, budget);
        return address == 0 ? null : new MissMonitor(address, bytes, longestMicros, ticker, regions, budget);
    }

    /**
     * A read has found no item of this key.
     *
     * @param missedAs the class for which that is counted, less than {@link PenaltyRanges#MOST}; if that is another than for
     *                 the key's misses before, those stay where they were counted
     */
    public void missed(long hash, int missedAs) {
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
                // What was counted for another class, or is too old to be ended by a write, stays where it was counted.
                boolean another = age > longestMicros || MissLayout.missedAs(miss) != missedAs;
                int count = another ? 0 : MissLayout.count(miss);
                MissLayout.put(line, i,
                        MissLayout.miss(tag, missedAs, Math.min(count + 1, MissLayout.MOST_COUNTED), since));
                return;
            }
            if (age > chosenAge) {
                chosen = i;
                chosenAge = age;
            }
        }
        MissLayout.put(line, chosen, MissLayout.miss(tag, missedAs, 1, now));
    }

    /**
     * How long the miss of a key has waited, which is the penalty if the key is written now.
     *
     * @return µs; {@link #NONE} if there was no miss, or it was too long ago
     */
    public long waited(long hash) {
        found = place(hash);
        if (found == 0) {
            return NONE;
        }
        foundMiss = Memory.getLong(found);
        long age = MissLayout.age(foundMiss, micros());
        if (age > longestMicros) {
            // In some hours it would look young again.
            end();
            return NONE;
        }
        return age;
    }

    /** The class for which the misses were counted that {@link #waited} found last. */
    public int missedAs() {
        return MissLayout.missedAs(foundMiss);
    }

    /** How many misses of its key {@link #waited} found last: 1 to 16, which stands for more, too. */
    public int misses() {
        return MissLayout.count(foundMiss);
    }

    /** The miss that {@link #waited} found last, if it found one, is waited for no more. */
    public void end() {
        if (found != 0 && Memory.getLong(found) == foundMiss) {
            Memory.putLong(found, MissLayout.EMPTY);
        }
        found = 0;
    }

    /**
     * A key is written. Its miss, if there was one, is waited for no more.
     *
     * @return what {@link #waited} would have told
     */
    public long written(long hash) {
        long waited = waited(hash);
        end();
        return waited;
    }

    /** Where the key's miss is; 0 if there is none. */
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

    /** How many misses wait for a write: reads the whole table. */
    public int waiting() {
        long now = micros();
        int waiting = 0;
        for (long line = address; line < address + bytes; line += 1L << MissLayout.LINE_SHIFT) {
            for (int i = 0; i < MissLayout.MISSES; i++) {
                long miss = MissLayout.get(line, i);
                waiting += miss != MissLayout.EMPTY && MissLayout.age(miss, now) <= longestMicros ? 1 : 0;
            }
        }
        return waiting;
    }

    /** How many misses may wait at a time, if hashes fall evenly. */
    public long room() {
        return bytes / Long.BYTES;
    }

    /** Off the heap. */
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

    /** The key's shard was chosen by some of its hash's bits; all of them take part here. */
    private static long mixed(long hash) {
        long mixed = (hash ^ hash >>> 32) * GOLDEN;
        return mixed ^ mixed >>> 29;
    }

    private long line(long mixed) {
        return address + ((mixed & lineMask) << MissLayout.LINE_SHIFT);
    }
}
