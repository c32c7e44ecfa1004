package io.varve.memory.locality;

import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.SampleSchedule;

/**
 * Reports one thread's accesses to an {@link AccessRecorder}. Confined to that thread.
 *
 * <p>An access is reported in two steps. {@link #countRead}, {@link #countWrite} or {@link #countReadMiss}
 * counts it and returns whether the second step is needed, as it is for about one access in a dozen: it increments and
 * compares a counter, and tests a bit of the item that the caller has already read. {@link #read}, {@link #write} or
 * {@link #readMiss} then takes a size sample if one is due, and reports to the recorder if the access is sampled or its
 * key is followed.
 *
 * <p>The owner of the items stores one bit with each. The bit is set for every item whose key is
 * {@link AccessRecorder#follows followed}, and may be set for others. The second step returns the bit's new value. A
 * new item takes the bit of the item it replaces; if there is none, {@link AccessRecorder#follows} gives it.
 */
public final class AccessProbe {
    /** The counts since the last report. Confined to its probe. */
    static final class Counted {
        long accesses;
        long writes;
        long readMisses;
        long bytes;
    }

    /**
     * Exclusive upper bound of the random number of accesses between two size samples: 1 to 31, about 16 on average.
     */
    private static final int SIZE_SAMPLE_BOUND = 32;
    private static final int SIZE_SAMPLE_BITS = Integer.numberOfTrailingZeros(SIZE_SAMPLE_BOUND);
    private static final long RANDOM_FACTOR = 0x5851_F42D_4C95_7F2DL;
    private static final long RANDOM_TERM = 0x1405_7B7E_F767_814FL;

    private final AccessRecorder recorder;
    private final SampleSchedule schedule;
    private final Counted counted = new Counted();
    /** The accesses reported ever, and the number of further accesses until the next sample. */
    private long reported;
    private long untilSampled;
    /** The last and the next access that is a size sample, counted in unreported accesses. */
    private long lastSizeSample;
    private long untilSizeSample;
    /** The next access that needs the second step: the minimum of the two distances. */
    private long untilSecondStep;
    private long random;
    /** Accesses in a sampling block, of which one is sampled. The recorder changes it. */
    private double block;

    AccessProbe(AccessRecorder recorder, long seed, double block) {
        this.recorder = recorder;
        this.block = block;
        schedule = new SampleSchedule(block, seed);
        random = seed;
        untilSampled = schedule.next();
        untilSizeSample = nextSizeSampleDistance();
        untilSecondStep = Math.min(untilSampled, untilSizeSample);
    }

    /**
     * Counts a read that found an item.
     *
     * @param followed the item's followed bit
     * @return whether the caller must report it to {@link #read}
     */
    public boolean countRead(boolean followed) {
        return ++counted.accesses >= untilSecondStep || followed;
    }

    /**
     * Counts a write.
     *
     * @param followed the followed bit of the written item
     * @return whether the caller must report it to {@link #write}
     */
    public boolean countWrite(boolean followed) {
        counted.writes++;
        return ++counted.accesses >= untilSecondStep || followed;
    }

    /** Counts a read that missed. @return whether the caller must report it to {@link #readMiss} */
    public boolean countReadMiss(long hash) {
        counted.readMisses++;
        return ++counted.accesses >= untilSecondStep || recorder.follows(hash);
    }

    /**
     * Reports the last counted read.
     *
     * @param itemClass the item's penalty class; 0 if the recorder does not distinguish classes
     * @param itemBytes bytes of the item
     * @param expiresMillis when the item expires, or {@link ReuseRecorder#NEVER}
     * @param followed the item's followed bit
     * @return the new followed bit
     */
    public boolean read(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis,
            boolean followed) {
        return report(true, true, hash, itemClass, itemBytes, expiresMillis, nowMillis, followed);
    }

    /**
     * Reports the last counted write.
     *
     * @param itemClass the item's penalty class; 0 if the recorder does not distinguish classes
     * @param itemBytes bytes of the item
     * @param expiresMillis when the item expires, or {@link ReuseRecorder#NEVER}
     * @param followed the item's followed bit
     * @return the new followed bit
     */
    public boolean write(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis,
            boolean followed) {
        return report(false, true, hash, itemClass, itemBytes, expiresMillis, nowMillis, followed);
    }

    /**
     * Moves the earlier misses of a key to the class of the item that the last counted write has created. Call
     * {@link #write} afterwards. Only sampled writes do so; writes are sampled as often as reads, so on average the
     * moves balance the misses that were reported for a wrong class.
     *
     * @param from the class that those reads were reported for
     * @param to the class of the item
     * @param misses the number of those reads
     */
    public void moveMisses(int from, int to, int misses) {
        if (counted.accesses >= untilSampled) {
            recorder.moveSampledReads(from, to, misses);
        }
    }

    /** Reports the last counted read, which missed. */
    public void readMiss(long hash, int itemClass, long nowMillis) {
        report(true, false, hash, itemClass, 0, ReuseRecorder.NEVER, nowMillis, true);
    }

    private boolean report(boolean read, boolean item, long hash, int itemClass, long itemBytes, long expiresMillis,
            long nowMillis, boolean followed) {
        long accesses = counted.accesses;
        if (accesses >= untilSizeSample) {
            // It stands for all accesses since the previous one: their number is independent of the item.
            counted.bytes += (accesses - lastSizeSample) * itemBytes;
            lastSizeSample = accesses;
            untilSizeSample = accesses + nextSizeSampleDistance();
        }
        boolean isSampled = accesses >= untilSampled;
        if (isSampled || followed) {
            block = recorder.report(counted, isSampled, read, item, hash, itemClass, itemBytes, expiresMillis,
                    nowMillis);
            reported += accesses;
            if (isSampled) {
                schedule.after(reported, block);
            }
            untilSampled = schedule.next() - reported;
            lastSizeSample -= accesses;
            untilSizeSample -= accesses;
            counted.accesses = 0;
            counted.writes = 0;
            counted.readMisses = 0;
            counted.bytes = 0;
        }
        untilSecondStep = Math.min(untilSampled, untilSizeSample);
        return isSampled;
    }

    /** A random distance by a linear congruential generator, whose high bits are good enough here. */
    private long nextSizeSampleDistance() {
        random = random * RANDOM_FACTOR + RANDOM_TERM;
        return Math.max(1, random >>> Long.SIZE - SIZE_SAMPLE_BITS);
    }
}
