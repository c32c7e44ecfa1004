package io.varve.memory.eviction;

/**
 * What the access bits mean that items have from the policy before: {@code maxmemory-policy} may change at any time, and to rewrite the
 * bits of all items would take long. Immutable.
 *
 * <p>Bits of the present policy tell a time since the change. Any other time is read as one that the policy before has written. The few
 * that seem to be newer by chance, and those of a policy before the last, mean something wrong until their items are accessed.
 *
 * @param from          the policy before
 * @param to            the present one
 * @param changedMillis when that was, ms since the epoch
 */
public record AccessTranslation(EvictionPolicy from, EvictionPolicy to, long changedMillis) {
    private static final long MILLIS_PER_MINUTE = 60_000;
    /** An item that was accessed within so many minutes before the change is worth one more than a new one for each of these. */
    private static final int[] RECENT_MINUTES = {1, 10, 60};
    /** So many accesses, times the square of the count beyond the initial one, it takes on the mean to come to that count. */
    private static final double ACCESSES_PER_SQUARE = AccessBits.LOG_FACTOR / 2.0;
    private static final int MOST_COUNT = 255;

    /**
     * The translation after a change.
     *
     * @param before what was translated until then; null: nothing
     * @return null if there is nothing to translate
     */
    public static @org.jspecify.annotations.Nullable AccessTranslation after(
            @org.jspecify.annotations.Nullable AccessTranslation before, EvictionPolicy from, EvictionPolicy to,
            long nowMillis) {
        if (to.countsSinceArrival()) {
            // A residence tells by itself whether it is one.
            return null;
        }
        boolean same = from.countsFrequency() == to.countsFrequency() && !from.countsSinceArrival();
        return same ? before : new AccessTranslation(from, to, nowMillis);
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
            long idleMinutes = AccessBits.idleMillis(bits, changedMillis) / MILLIS_PER_MINUTE;
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
                ? AccessBits.minutesSince(bits, changedMillis) * MILLIS_PER_MINUTE
                : 0;
        return AccessBits.idle(idleMillis / AccessBits.MILLIS_PER_SECOND, changedMillis);
    }
}
