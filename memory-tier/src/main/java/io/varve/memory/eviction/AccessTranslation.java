package io.varve.memory.eviction;

import org.jspecify.annotations.Nullable;

/**
 * Converts access bits that were written before {@code maxmemory-policy} changed. Immutable. Rewriting the bits of all
 * items at the change would take long.
 *
 * <p>Bits of the present policy hold a time since the change. Bits with any other time are read as those of the
 * previous policy. A few of those hold such a time by chance, and stay wrong until their items are accessed.
 *
 * @param from the previous policy
 * @param to the present policy
 * @param changedMillis the time of the change, ms since the epoch
 * @param earlier converts bits that were written before the change to {@code from}; null if there are none
 */
public record AccessTranslation(EvictionPolicy from, EvictionPolicy to, long changedMillis,
        @Nullable AccessTranslation earlier) {
    /** The number of changes that are remembered. */
    private static final int MAX_CHANGES = 8;
    private static final long MILLIS_PER_MINUTE = 60_000;
    /**
     * For each of these, an item accessed within that many minutes before the change counts one more than a new one.
     */
    private static final int[] RECENT_MINUTES = {1, 10, 60};
    /** A count of {@code initial + n} stands for {@code n * n} times this many accesses. */
    private static final double ACCESSES_PER_SQUARE = AccessBits.LOG_FACTOR / 2.0;
    private static final int MAX_COUNT = 255;

    /**
     * The translation after a change.
     *
     * @param before the present translation; null if none
     * @return null if there is nothing to translate
     */
    public static @Nullable AccessTranslation after(
            @Nullable AccessTranslation before, EvictionPolicy from, EvictionPolicy to,
            long nowMillis) {
        if (to.countsSinceArrival()) {
            // A residence is recognizable by itself.
            return null;
        }
        boolean same = from.countsFrequency() == to.countsFrequency() && !from.countsSinceArrival();
        return same ? before : new AccessTranslation(from, to, nowMillis, upTo(MAX_CHANGES - 1, before));
    }

    private static @Nullable AccessTranslation upTo(int changes, @Nullable AccessTranslation last) {
        return last == null || changes == 0
                ? null
                : new AccessTranslation(last.from, last.to, last.changedMillis, upTo(changes - 1, last.earlier));
    }

    /** Seconds since the change, rounded down. */
    public long secondsSince(long nowMillis) {
        return Math.max(0, nowMillis - changedMillis) / AccessBits.MILLIS_PER_SECOND;
    }

    /** The bits of the previous policy as they were at the change. */
    private int before(int bits) {
        return earlier == null ? bits : earlier.translate(bits, changedMillis);
    }

    /** The bits converted to the present policy. */
    public int translate(int bits, long nowMillis) {
        return to.countsFrequency() ? toFrequency(bits, nowMillis) : toClock(bits, nowMillis);
    }

    private int toFrequency(int bits, long nowMillis) {
        long passed = Math.max(0, nowMillis / MILLIS_PER_MINUTE - changedMillis / MILLIS_PER_MINUTE);
        if (AccessBits.minutesSince(bits, nowMillis) <= passed) {
            return bits;
        }
        int count = AccessBits.INITIAL_COUNT;
        if (from.countsSinceArrival()) {
            count += (int) Math.sqrt(Residence.accesses(bits) / ACCESSES_PER_SQUARE);
        } else {
            long idleMinutes = AccessBits.idleMillis(before(bits), changedMillis) / MILLIS_PER_MINUTE;
            for (int recent : RECENT_MINUTES) {
                count += idleMinutes < recent ? 1 : 0;
            }
        }
        return AccessBits.counted(Math.min(count, MAX_COUNT), changedMillis);
    }

    private int toClock(int bits, long nowMillis) {
        if (AccessBits.idleMillis(bits, nowMillis) <= nowMillis - changedMillis + AccessBits.MILLIS_PER_SECOND) {
            return bits;
        }
        long idleMillis = from.countsFrequency()
                ? AccessBits.minutesSince(before(bits), changedMillis) * MILLIS_PER_MINUTE
                : 0;
        return AccessBits.idle(idleMillis / AccessBits.MILLIS_PER_SECOND, changedMillis);
    }
}
