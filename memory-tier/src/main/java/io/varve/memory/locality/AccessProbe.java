package io.varve.memory.locality;

import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.SampleSchedule;

/**
 * Reports one thread's accesses to an {@link AccessRecorder}. Confined to that thread.
 *
 * <p>An access is reported in two steps. The first counts it and decides whether the second is needed: it increments
 * and compares a counter, and tests a bit of the item that the caller has already read. About one access in a dozen
 * needs the second step. It adds the item's bytes, and reports the access to the recorder if it is sampled or its key
 * is followed.
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
        long ofNothing;
        long bytes;
    }

    /**
     * An exclusive bound of the distance between two accesses whose items are weighed: from 1 to this less 1, 16 on
     * average.
     */
    private static final int WEIGHED = 32;
    private static final int WEIGHED_BITS = Integer.numberOfTrailingZeros(WEIGHED);
    private static final long RANDOM_FACTOR = 0x5851_F42D_4C95_7F2DL;
    private static final long RANDOM_TERM = 0x1405_7B7E_F767_814FL;

    private final AccessRecorder recorder;
    private final SampleSchedule schedule;
    private final Counted counted = new Counted();
    /** The accesses reported ever, and the number of further accesses until the next sample. */
    private long reported;
    private long untilSampled;
    /** The last weighed access, and the next one, counted in unreported accesses. */
    private long weighed;
    private long untilWeighed;
    /** The minimum of {@link #untilSampled} and {@link #untilWeighed}. */
    private long until;
    private long random;
    private double block;

    AccessProbe(AccessRecorder recorder, long seed, double block) {
        this.recorder = recorder;
        this.block = block;
        schedule = new SampleSchedule(block, seed);
        random = seed;
        untilSampled = schedule.next();
        untilWeighed = apart();
        until = Math.min(untilSampled, untilWeighed);
    }

    /**
     * Counts a read that found an item.
     *
     * @param followed the item's followed bit
     * @return whether the caller must report it to {@link #read}
     */
    public boolean countRead(boolean followed) {
        return ++counted.accesses >= until || followed;
    }

    /**
     * Counts a write, which leaves an item with this bit. @return whether the caller must report it to {@link #write}
     */
    public boolean countWrite(boolean followed) {
        counted.writes++;
        return ++counted.accesses >= until || followed;
    }

    /** Counts a read that found nothing. @return whether the caller must report it to {@link #readMiss} */
    public boolean countReadMiss(long hash) {
        counted.ofNothing++;
        return ++counted.accesses >= until || recorder.follows(hash);
    }

    /**
     * Reports the last counted read.
     *
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
     * Corrects the class of earlier reads of nothing, which the last counted write has filled; {@link #write} must
     * follow. Writes are sampled as often as reads, so on average as many reads are corrected as were reported with a
     * wrong class.
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

    /** Reports the last counted read of nothing. */
    public void readMiss(long hash, int itemClass, long nowMillis) {
        report(true, false, hash, itemClass, 0, ReuseRecorder.NEVER, nowMillis, true);
    }

    private boolean report(boolean read, boolean item, long hash, int itemClass, long itemBytes, long expiresMillis,
            long nowMillis, boolean followed) {
        long accesses = counted.accesses;
        if (accesses >= untilWeighed) {
            // It stands for all accesses since the previous one: their number is independent of the item.
            counted.bytes += (accesses - weighed) * itemBytes;
            weighed = accesses;
            untilWeighed = accesses + apart();
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
            weighed -= accesses;
            untilWeighed -= accesses;
            counted.accesses = 0;
            counted.writes = 0;
            counted.ofNothing = 0;
            counted.bytes = 0;
        }
        until = Math.min(untilSampled, untilWeighed);
        return isSampled;
    }

    /** A random distance by a linear congruential generator, whose high bits are good enough here. */
    private long apart() {
        random = random * RANDOM_FACTOR + RANDOM_TERM;
        return Math.max(1, random >>> Long.SIZE - WEIGHED_BITS);
    }
}
