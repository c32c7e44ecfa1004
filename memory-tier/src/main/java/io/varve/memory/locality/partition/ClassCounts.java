package io.varve.memory.locality.partition;

/**
 * Counters for each class: accesses, read misses, and the durations of the fills that followed. Guarded by its owner's
 * lock.
 *
 * <p>The counters of a class lie in one cache line: an access costs one addition to it.
 */
public final class ClassCounts {
    private static final int READS = 0;
    private static final int MISSES = 1;
    private static final int WRITES = 2;
    private static final int PENALTIES = 3;
    private static final int MICROS = 4;
    private static final int SHIFT = 3;

    private final long[] counts;
    /** The number of penalties, by the class that was known and the class that was filled; and their sums, µs. */
    private final long[] transitions;
    private final long[] transitionMicros;

    /** @param classes 1 to {@link PenaltyRanges#MAX_CLASSES} */
    public ClassCounts(int classes) {
        counts = new long[new PenaltyRanges(classes).classes() << SHIFT];
        transitions = new long[classes * classes];
        transitionMicros = new long[classes * classes];
    }

    public int classes() {
        return counts.length >>> SHIFT;
    }

    /** Counts a read that found its item. */
    public void hit(int penaltyClass) {
        counts[(penaltyClass << SHIFT) + READS]++;
    }

    /** Counts a read that found nothing. */
    public void miss(int penaltyClass) {
        counts[(penaltyClass << SHIFT) + READS]++;
        counts[(penaltyClass << SHIFT) + MISSES]++;
    }

    /** Moves misses that were counted for one class to the class they belong to. */
    public void moveMisses(int from, int to, int misses) {
        counts[(from << SHIFT) + READS] -= misses;
        counts[(from << SHIFT) + MISSES] -= misses;
        counts[(to << SHIFT) + READS] += misses;
        counts[(to << SHIFT) + MISSES] += misses;
    }

    public void write(int penaltyClass) {
        counts[(penaltyClass << SHIFT) + WRITES]++;
    }

    /**
     * Counts a measured penalty.
     *
     * @param penaltyClass the class of the new item
     * @param knownAs the former class of the key; negative if unknown
     * @param micros the penalty, 0 or more
     */
    public void penalty(int penaltyClass, int knownAs, long micros) {
        counts[(penaltyClass << SHIFT) + PENALTIES]++;
        counts[(penaltyClass << SHIFT) + MICROS] += micros;
        if (knownAs >= 0) {
            transitions[knownAs * classes() + penaltyClass]++;
            transitionMicros[knownAs * classes() + penaltyClass] += micros;
        }
    }

    public long reads(int penaltyClass) {
        return counts[(penaltyClass << SHIFT) + READS];
    }

    public long misses(int penaltyClass) {
        return counts[(penaltyClass << SHIFT) + MISSES];
    }

    /** Reads and writes. */
    public long accesses(int penaltyClass) {
        return reads(penaltyClass) + counts[(penaltyClass << SHIFT) + WRITES];
    }

    /** The number of penalties measured for fills that created an item of the class. */
    public long penalties(int penaltyClass) {
        return counts[(penaltyClass << SHIFT) + PENALTIES];
    }

    /** The sum of those penalties, µs. */
    public long micros(int penaltyClass) {
        return counts[(penaltyClass << SHIFT) + MICROS];
    }

    /** The number of penalties of keys that were in one class and are filled into another, or the same. */
    public long transitions(int from, int to) {
        return transitions[from * classes() + to];
    }

    /** The sum of those penalties, µs. */
    public long transitionMicros(int from, int to) {
        return transitionMicros[from * classes() + to];
    }

    public long writes(int penaltyClass) {
        return counts[(penaltyClass << SHIFT) + WRITES];
    }

    /** Adds everything to other counts of the same number of classes. */
    public void addTo(ClassCounts other) {
        requireAsMany(other);
        for (int i = 0; i < counts.length; i++) {
            other.counts[i] += counts[i];
        }
        for (int i = 0; i < transitions.length; i++) {
            other.transitions[i] += transitions[i];
            other.transitionMicros[i] += transitionMicros[i];
        }
    }

    /** The difference to an earlier state of these counts. */
    public ClassCounts since(ClassCounts before) {
        requireAsMany(before);
        ClassCounts since = new ClassCounts(classes());
        for (int i = 0; i < counts.length; i++) {
            since.counts[i] = counts[i] - before.counts[i];
        }
        for (int i = 0; i < transitions.length; i++) {
            since.transitions[i] = transitions[i] - before.transitions[i];
            since.transitionMicros[i] = transitionMicros[i] - before.transitionMicros[i];
        }
        return since;
    }

    private void requireAsMany(ClassCounts other) {
        if (other.counts.length != counts.length) {
            throw new IllegalArgumentException(
                    "Counts of " + classes() + " classes do not go to those of " + other.classes());
        }
    }
}
