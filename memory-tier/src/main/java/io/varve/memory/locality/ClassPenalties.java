package io.varve.memory.locality;

import java.util.Arrays;

/**
 * What a miss costs in each class: the mean of what was measured in the last period (pRedis, section 3.2). Single-writer, many readers.
 *
 * <p>One fill is slower than another for reasons that have nothing to do with the key. With hints the keys of a class come from one place,
 * and the mean over all of them is that place's penalty; when it changes (a replica fails) it does for the whole class at the end of the period, not
 * for one key after the other as they are filled again. Without hints it is the mean of what was measured within the class's range.
 *
 * <p>A class of which nothing was measured in a period keeps what it had. One of which nothing ever was has the mean of all others: items that were
 * never missed cost what items cost.
 */
public final class ClassPenalties {
    /** What a miss costs if nobody has ever measured one, µs: any number, since it is the same for all. */
    private static final double UNKNOWN_MICROS = 1;

    private volatile double[] micros;
    /** Until something is measured. */
    private final boolean[] known;

    /** @param classes 1 to {@link PenaltyRanges#MOST} */
    public ClassPenalties(int classes) {
        micros = new double[new PenaltyRanges(classes).classes()];
        known = new boolean[classes];
        Arrays.fill(micros, UNKNOWN_MICROS);
    }

    /** A period has ended. */
    public void endPeriod(ClassCounts period) {
        double[] next = micros.clone();
        for (int i = 0; i < next.length; i++) {
            if (period.penalties(i) > 0) {
                next[i] = (double) period.micros(i) / period.penalties(i);
                known[i] = true;
            }
        }
        double mean = meanOfKnown(next);
        for (int i = 0; i < next.length; i++) {
            next[i] = known[i] ? next[i] : mean;
        }
        micros = next;
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

    /** What a miss costs, µs. */
    public double micros(int penaltyClass) {
        return micros[penaltyClass];
    }
}
