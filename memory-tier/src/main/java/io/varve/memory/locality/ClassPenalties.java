package io.varve.memory.locality;

import java.util.Arrays;

/**
 * What a miss costs in each class: the mean of what was measured in the last period (pRedis, section 3.2). Single-writer, many readers.
 *
 * <p>One fill is slower than another for reasons that have nothing to do with the key. With hints the keys of a class come from one place,
 * and the mean over all of them is that place's penalty; when it changes (a replica fails) it does for the whole class at the end of the period, not
 * for one key after the other as they are filled again.
 *
 * <p>Without hints a class is a range of penalties, and the mean of what is filled into it cannot leave the range: who asks what its items
 * would cost now learns what they have cost. So it is the misses of keys that were of the class which tell: those that stay what they are, and those that a good part of them have turned into, a dearer class
 * ({@link ClassGroups}). When a source gets slower, the items that have come from it before are worth that much more from the end of the period on. A few that are slow for once tell nothing, nor do
 * those that are filled as a cheaper class, of which nobody knows when they were what is remembered.
 *
 * <p>Of a class of which there are too few of these its group's misses tell, and where it is alone, or there are too few of them too, what was filled into it and its group. One of which nothing was
 * measured in a period keeps what it had, and one of which nothing ever was has the mean of all others: items that were never missed cost what items cost.
 */
public final class ClassPenalties {
    /** What a miss costs if nobody has ever measured one, µs: any number, since it is the same for all. */
    private static final double UNKNOWN_MICROS = 1;

    private volatile double[] micros;
    /** Until something is measured. */
    private final boolean[] known;
    private final ClassGroups groups;

    /** @param classes 1 to {@link PenaltyRanges#MOST} */
    public ClassPenalties(int classes) {
        micros = new double[new PenaltyRanges(classes).classes()];
        known = new boolean[classes];
        groups = new ClassGroups(classes);
        Arrays.fill(micros, UNKNOWN_MICROS);
    }

    /** A period has ended. */
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

    /** What a period tells of what a class costs. */
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

        /** Those of keys that were of a class and are still, and of those that a good part of them have turned into. */
        void addMisses(ClassCounts period, int from) {
            long all = 0;
            for (int to = from; to < period.classes(); to++) {
                all += period.turned(from, to);
            }
            for (int to = from; to < period.classes(); to++) {
                if (to == from || ClassGroups.isGoodPart(period.turned(from, to), all)) {
                    add(period.turned(from, to), period.turnedMicros(from, to));
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

    /** Whether anything was ever measured of a class. Asked by the writer. */
    public boolean isKnown(int penaltyClass) {
        return known[penaltyClass];
    }

    /** By class, the first of its group: of those that are of one source. Not to be changed. Asked by the writer. */
    public int[] groups() {
        return groups.first();
    }

    /** What a miss costs, µs. */
    public double micros(int penaltyClass) {
        return micros[penaltyClass];
    }
}
