package io.varve.memory.eviction;

import org.jspecify.annotations.Nullable;

/**
 * Reads access bits that were written before {@code maxmemory-policy} changed: to rewrite the bits of all items at the change would take
 * long. Immutable.
 *
 * <p>Bits of the present policy hold a time since the change. Bits with any other time are taken for those of the policy before. A few of
 * them hold such a time by chance: those are wrong until their items are accessed.
 *
 * @param from          the policy before
 * @param to            the present one
 * @param changedMillis when it changed, ms since the epoch
 * @param earlier       reads bits that were written before the change to {@code from}; null if there are none
 */
public record AccessTranslation(EvictionPolicy from, EvictionPolicy to, long changedMillis,
        @Nullable AccessTranslation earlier) {
    /** So many changes are remembered. */
    private static final int MOST_CHANGES = 8;
    private static final long MILLIS_PER_MINUTE = 60_000;
    /** An item that was accessed within so many minutes before the change is worth one more than a new one for each of these. */
    private static final int[] RECENT_MINUTES = {1, 10, 60};
    /** A count of {@code initial + n} stands for {@code n * n} times so many accesses. */
    private static final double ACCESSES_PER_SQUARE = AccessBits.LOG_FACTOR / 2.0;
    private static final int MOST_COUNT = 255;

    /**
     * The translation after a change.
     *
     * @param before what was translated until then; null: nothing
     * @return null if there is nothing to translate
     */
    public static @Nullable AccessTranslation after(
            @Nullable AccessTranslation before, EvictionPolicy from, EvictionPolicy to,
            long nowMillis) {
        if (to.countsSinceArrival()) {
            // A residence tells by itself whether it is one.
            return null;
        }
        boolean same = from.countsFrequency() == to.countsFrequency() && !from.countsSinceArrival();
        return same ? before : new AccessTranslation(from, to, nowMillis, upTo(MOST_CHANGES - 1, before));
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

    /** The bits as they were at the change, of the policy before. */
    private int before(int bits) {
        return earlier == null ? bits : earlier.translate(bits, changedMillis);
    }

    /** The bits as the present policy would have them. */
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
        return AccessBits.counted(Math.min(count, MOST_COUNT), changedMillis);
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
