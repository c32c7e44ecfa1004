package io.varve.memory.locality.demand;

/**
 * Thresholds for periodic demand and for its valleys (pRedis, section 4). Immutable.
 *
 * @param slotMillis the length of the slots in which accesses are counted, in milliseconds, 1 or more
 * @param historySlots the slots that are remembered, at least two and a half times the duration
 * @param durationSlots the least length of a peak and a valley, in slots, 1 or more
 * @param swing the least difference between peak and valley, as a share of the average, above 0
 * @param closeness how far above the lowest rate a slot still belongs to the valley, as a share of the difference
 *     between peak and valley, 0 to below 0.5
 * @param returning the least share of a peak's keys that an earlier peak also had, 0 to 1
 * @param misses the consecutive misses that wake a dumped class, 1 or more
 */
public record DemandSettings(long slotMillis, int historySlots, int durationSlots, double swing, double closeness,
        double returning, int misses) {
    private static final int MAX_SLOTS = 100_000;

    /** The paper's: slots of a minute, ten minutes, half of the average, a hundred misses; with two days of history. */
    public static final DemandSettings DEFAULT = new DemandSettings(60_000, 2 * 24 * 60, 10, 0.5, 0.1, 0.5, 100);

    /** @throws IllegalArgumentException naming the setting that is out of its range */
    public DemandSettings {
        require(slotMillis >= 1, "A slot lasts 1 ms or more, not " + slotMillis);
        require(durationSlots >= 1, "A peak or valley lasts 1 slot or more, not " + durationSlots);
        require(historySlots / 2.5 >= durationSlots && historySlots <= MAX_SLOTS, "The history has " + MAX_SLOTS
                + " slots at the most, and two and a half times the " + durationSlots
                + " of a valley at the least, not "
                + historySlots);
        require(swing > 0 && swing <= Double.MAX_VALUE, "The swing is above 0, not " + swing);
        require(closeness >= 0 && closeness < 0.5, "The closeness is 0 to below 0.5, not " + closeness);
        require(returning >= 0 && returning <= 1, "The share that returns is 0 to 1, not " + returning);
        require(misses >= 1, "A class wakes with 1 miss or more, not " + misses);
    }

    private static void require(boolean right, String otherwise) {
        if (!right) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
