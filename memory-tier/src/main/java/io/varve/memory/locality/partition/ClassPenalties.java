package io.varve.memory.locality.partition;

import java.util.Arrays;

/**
 * The cost of a miss in each class: the mean over the measurements of the last period (pRedis, section 3.2).
 * Single-writer, many readers.
 *
 * <p>The duration of a single fill varies for reasons that have nothing to do with the key. With hints, the keys of a
 * class come from one source, and the mean over all of them is that source's penalty. If it changes (a replica fails),
 * it changes for the whole class at the end of the period, not key by key as they are filled again.
 *
 * <p>Without hints, a class is a range of penalties, and the mean of the fills into it cannot leave the range. It is
 * the former cost of its items, not their present cost. The evidence is therefore the misses of keys that were in the
 * class before. They count if the key stays in the class, or if a good part of such keys have moved to the same more
 * expensive class ({@link ClassGroups}). When a source gets slower, its earlier items gain value at the end of the
 * period. A few single slow fills do not count. Neither do fills into a cheaper class, because the age of the
 * remembered class is unknown.
 *
 * <p>If a class has too few such misses, its group's misses count. If there are too few of those too, or the class is
 * alone, the fills into the class and its group count. A class without measurements in a period keeps its old cost. A
 * class that never had one gets the mean of all others, because its items presumably have the usual cost.
 */
public final class ClassPenalties {
    /** The cost of a miss before any was measured, µs: an arbitrary number, because it is equal for all. */
    private static final double UNKNOWN_MICROS = 1;

    private volatile double[] micros;
    /** Whether anything was measured, by class. */
    private final boolean[] known;
    private final ClassGroups groups;

    /** @param classes 1 to {@link PenaltyRanges#MAX_CLASSES} */
    public ClassPenalties(int classes) {
        micros = new double[new PenaltyRanges(classes).classes()];
        known = new boolean[classes];
        groups = new ClassGroups(classes);
        Arrays.fill(micros, UNKNOWN_MICROS);
    }

    /** Ends a period. */
    public void endPeriod(ClassCounts period) {
        double[] next = micros.clone();
        long measured = 0;
        for (int i = 0; i < next.length; i++) {
            measured += period.penalties(i);
        }
        double errors = ClassGroups.errors(measured);
        for (int i = 0; i < next.length; i++) {
            Mean mean = cost(period, i, errors);
            if (mean.count > 0) {
                next[i] = mean.micros / mean.count;
                known[i] = true;
            }
        }
        double mean = meanOfKnown(next);
        for (int i = 0; i < next.length; i++) {
            next[i] = known[i] ? next[i] : mean;
        }
        micros = next;
        groups.endPeriod(period, next);
    }

    /** The measurements of a period that count for the cost of a class. */
    private Mean cost(ClassCounts period, int penaltyClass, double errors) {
        Mean own = new Mean();
        own.addMisses(period, penaltyClass);
        if (own.count > errors) {
            return own;
        }
        int[] first = groups.first();
        Mean misses = new Mean();
        Mean fills = new Mean();
        for (int i = 0; i < first.length; i++) {
            if (first[i] == first[penaltyClass]) {
                misses.addMisses(period, i);
                fills.add(period.penalties(i), period.micros(i));
            }
        }
        return misses.count > errors ? misses : fills;
    }

    private static final class Mean {
        private long count;
        private double micros;

        void add(long more, long ofMicros) {
            count += more;
            micros += ofMicros;
        }

        /** Adds the misses of keys that stay in a class, and of those that a good part of its keys have moved to. */
        void addMisses(ClassCounts period, int from) {
            long all = 0;
            for (int to = from; to < period.classes(); to++) {
                all += period.transitions(from, to);
            }
            for (int to = from; to < period.classes(); to++) {
                if (to == from || ClassGroups.isLargePart(period.transitions(from, to), all)) {
                    add(period.transitions(from, to), period.transitionMicros(from, to));
                }
            }
        }
    }

    private double meanOfKnown(double[] of) {
        double sum = 0;
        int classes = 0;
        for (int i = 0; i < of.length; i++) {
            if (known[i]) {
                sum += of[i];
                classes++;
            }
        }
        return classes == 0 ? UNKNOWN_MICROS : sum / classes;
    }

    /** Whether anything was ever measured for a class. Called by the writer. */
    public boolean isKnown(int penaltyClass) {
        return known[penaltyClass];
    }

    /**
     * By class, the first of its group of classes from one source. Callers must not change it. Called by the writer.
     */
    public int[] groups() {
        return groups.first();
    }

    /** The cost of a miss, µs. */
    public double micros(int penaltyClass) {
        return micros[penaltyClass];
    }
}
