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
 * would cost now learns what they have cost. So it is the misses of keys which were known to be of the class that tell, whatever they are filled as. When a
 * source gets slower, the items that have come from it before are worth that much more from the end of the period on; and
 * where chance alone has put keys of one source into two classes, both cost the same.
 *
 * <p>Which class a key was of is remembered by filters that err for one key in a hundred at the most. A class of which no more misses than those
 * were measured, because it has all the memory that it wants, costs what the others of its source do ({@link ClassGroups}); if it is alone it keeps what earlier misses have told for some periods, the
 * longer the more there were, and after that it has the mean of what was filled into it. One of which nothing was measured in a period keeps what it had, and one of which nothing ever was has the mean of all others: items that were never missed cost what items cost.
 */
public final class ClassPenalties {
    /** What a miss costs if nobody has ever measured one, µs: any number, since it is the same for all. */
    private static final double UNKNOWN_MICROS = 1;
    /** Among so many misses of keys that were of no class, one at the most seems to have been of some class ({@code RememberedClasses}). */
    static final int ONE_ERROR_IN = 100;

    private volatile double[] micros;
    /** Until something is measured. */
    private final boolean[] known;
    /** How many misses have told what a class costs; half as many with each period in which too few did. */
    private final double[] told;
    private final ClassGroups groups;

    /** @param classes 1 to {@link PenaltyRanges#MOST} */
    public ClassPenalties(int classes) {
        micros = new double[new PenaltyRanges(classes).classes()];
        known = new boolean[classes];
        told = new double[classes];
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
        double errors = (double) measured / ONE_ERROR_IN;
        for (int i = 0; i < next.length; i++) {
            told[i] = Math.max(period.knownPenalties(i), told[i] / 2);
            double cost = cost(period, i, errors);
            if (!Double.isNaN(cost)) {
                next[i] = cost;
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

    /** What a period tells of what a class costs; NaN if nothing. */
    private double cost(ClassCounts period, int penaltyClass, double errors) {
        if (period.knownPenalties(penaltyClass) > errors) {
            return (double) period.knownMicros(penaltyClass) / period.knownPenalties(penaltyClass);
        }
        int[] first = groups.first();
        long penalties = 0;
        double sum = 0;
        for (int i = 0; i < first.length; i++) {
            if (first[i] == first[penaltyClass]) {
                penalties += period.knownPenalties(i);
                sum += period.knownMicros(i);
            }
        }
        if (penalties > errors) {
            return sum / penalties;
        }
        return told[penaltyClass] <= errors && period.penalties(penaltyClass) > 0
                ? (double) period.micros(penaltyClass) / period.penalties(penaltyClass)
                : Double.NaN;
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
