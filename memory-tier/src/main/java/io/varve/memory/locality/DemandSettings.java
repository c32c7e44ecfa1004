package io.varve.memory.locality;

/**
 * When the demand for a class is taken for periodic, and when its valley for come (pRedis, section 4). Immutable.
 *
 * @param slotMillis    in which accesses are counted, 1 or more
 * @param historySlots  that are remembered, two and a half times the duration or more
 * @param durationSlots that a peak and a valley last at least, 1 or more
 * @param swing         by which a peak is above the valley, as a share of the average, above 0
 * @param closeness     within which of the way up from the valley a slot still belongs to it, 0 to below 0.5
 * @param returning     the share of a peak's keys that an earlier peak had too, 0 to 1
 * @param misses        one after the other, with which a class that was dumped wakes, 1 or more
 */
public record DemandSettings(long slotMillis, int historySlots, int durationSlots, double swing, double closeness,
        double returning, int misses) {
    private static final int MOST_SLOTS = 100_000;

    /** The paper's: slots of a minute, ten minutes, half of the average, a hundred misses; with two days of history. */
    public static final DemandSettings DEFAULT = new DemandSettings(60_000, 2 * 24 * 60, 10, 0.5, 0.1, 0.5, 100);

    /** @throws IllegalArgumentException naming what is out of its range */
    public DemandSettings {
        require(slotMillis >= 1, "A slot lasts 1 ms or more, not " + slotMillis);
        require(durationSlots >= 1, "A peak or valley lasts 1 slot or more, not " + durationSlots);
        require(historySlots / 2.5 >= durationSlots && historySlots <= MOST_SLOTS, "The history has " + MOST_SLOTS
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
