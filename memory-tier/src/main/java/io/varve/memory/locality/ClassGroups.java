package io.varve.memory.locality;

import java.util.stream.IntStream;

/**
 * Which classes' keys come from one source, as far as misses tell: a good part of those that were of the one are filled as the other, a dearer one, and what they cost is the same. So it is where
 * a source has got slower, and what lies there of it is of the class before; and where a source is near the end of a class's range, and chance decides. Such classes are one stream of requests, of which
 * neither one's curve tells. They share their memory. Single-writer.
 *
 * <p>Only what is filled as the same class or a higher one tells anything. What remembers classes ({@code RememberedClasses}) knows the highest with which a key was evicted, and errs upwards: a key that is filled lower
 * may have been of that class for long.
 *
 * <p>Two classes stay together until misses tell otherwise: one that has what it wants is hardly missed, and tells nothing. Those that differ in what their misses cost, or whose keys stay what they are,
 * are never put together, whatever clients name them.
 */
final class ClassGroups {
    /** Of a class's misses one in so many makes a good part. */
    private static final int PART = 8;
    /** What costs no more than so many times the other costs the same. */
    private static final double SAME = 1.25;
    /** Among so many misses of keys that were of no class, one at the most seems to have been of some class. */
    private static final int ONE_ERROR_IN = 100;
    /** No fewer misses tell anything. */
    private static final double LEAST = 10;

    private final int classes;
    /** Misses by the class that was known and the class that was filled; each period counts twice as much as the one before it. */
    private final double[] turned;
    private double measured;
    /** By the same two classes: of one source. */
    private final boolean[] joined;
    /** By class, the first of its group. Replaced, not changed. */
    private int[] first;

    /** @param classes 1 to {@link PenaltyRanges#MOST} */
    ClassGroups(int classes) {
        this.classes = new PenaltyRanges(classes).classes();
        turned = new double[classes * classes];
        joined = new boolean[classes * classes];
        first = IntStream.range(0, classes).toArray();
    }

    /** So many misses of a class may be errors, or chance, where so many were measured in all. */
    static double errors(double measured) {
        return Math.max(LEAST, measured / ONE_ERROR_IN);
    }

    /** Whether some misses of a class are a good part of all those that tell something. */
    static boolean isGoodPart(double some, double all) {
        return some > all / PART;
    }

    /**
     * A period has ended.
     *
     * @param micros what misses cost by class, this period included
     */
    void endPeriod(ClassCounts period, double[] micros) {
        measured /= 2;
        first = IntStream.range(0, classes).toArray();
        for (int from = 0; from < classes; from++) {
            measured += period.penalties(from);
            for (int to = from; to < classes; to++) {
                turned[from * classes + to] = turned[from * classes + to] / 2 + period.turned(from, to);
            }
        }
        double errors = errors(measured);
        for (int from = 0; from < classes; from++) {
            double known = 0;
            for (int to = from; to < classes; to++) {
                known += turned[from * classes + to];
            }
            for (int to = from + 1; to < classes; to++) {
                int pair = from * classes + to;
                double some = turned[pair];
                joined[pair] = costTheSame(micros[from], micros[to]) && (joined[pair]
                        ? known <= errors || isGoodPart(some, known)
                        : some > errors && isGoodPart(some, known));
                if (joined[pair]) {
                    join(first[from], first[to]);
                }
            }
        }
    }

    /** By class, the first of its group; itself, if it is alone. Not to be changed. */
    int[] first() {
        return first;
    }

    private static boolean costTheSame(double one, double other) {
        return Math.max(one, other) <= SAME * Math.min(one, other);
    }

    private void join(int one, int other) {
        int lower = Math.min(one, other);
        for (int i = 0; i < first.length; i++) {
            first[i] = first[i] == one || first[i] == other ? lower : first[i];
        }
    }
}
