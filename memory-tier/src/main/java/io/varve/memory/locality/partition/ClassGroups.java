package io.varve.memory.locality.partition;

import java.util.stream.IntStream;

/**
 * Groups the classes whose keys come from one source, as far as misses show. Single-writer: the owning
 * {@link ClassPenalties}.
 *
 * <p>Two classes belong together if a good part of the keys of one are filled as the other, more expensive one, and
 * their misses cost the same. It happens when a source has become slower and its earlier items are still in the old
 * class. It also happens when a source is near the end of a class's range and chance decides. Such classes are one
 * stream of requests, which neither class's curve describes, so they share their memory.
 *
 * <p>Only fills into the same class or a higher one count. The remembered classes ({@code RememberedClasses}) give the
 * highest class with which a key was evicted, and err upwards. A key that is filled lower may thus have been in that
 * class for long.
 *
 * <p>Two classes stay together until misses show otherwise: a class with enough memory hardly misses, and gives no
 * evidence. Classes are never grouped if their miss costs differ or their keys stay in their class, whatever clients
 * name them.
 */
final class ClassGroups {
    /** A good part of a class's misses is more than one in this many. */
    private static final int PART = 8;
    /** Costs within this factor are equal. */
    private static final double SAME = 1.25;
    /** The rate of errors: at most one in this many misses of keys without a class appears to have one. */
    private static final int ONE_ERROR_IN = 100;
    /** Fewer misses than this are no evidence. */
    private static final double MIN_ERRORS = 10;

    private final int classes;
    /**
     * Misses by the class that was known and the class that was filled; each period counts twice as much as the
     * previous one.
     */
    private final double[] transitions;
    private double measured;
    /** By the same two classes: whether they come from one source. */
    private final boolean[] joined;
    /** By class, the first of its group. The array is replaced, not changed. */
    private int[] first;

    /** @param classes 1 to {@link PenaltyRanges#MAX_CLASSES} */
    ClassGroups(int classes) {
        this.classes = new PenaltyRanges(classes).classes();
        transitions = new double[classes * classes];
        joined = new boolean[classes * classes];
        first = IntStream.range(0, classes).toArray();
    }

    /** The number of a class's misses that may be errors or chance, among all measured ones. */
    static double errors(double measured) {
        return Math.max(MIN_ERRORS, measured / ONE_ERROR_IN);
    }

    /** Whether some misses are a good part of all misses that are evidence. */
    static boolean isLargePart(double some, double all) {
        return some > all / PART;
    }

    /**
     * Ends a period.
     *
     * @param micros the cost of misses by class, this period included
     */
    void endPeriod(ClassCounts period, double[] micros) {
        measured /= 2;
        first = IntStream.range(0, classes).toArray();
        for (int from = 0; from < classes; from++) {
            measured += period.penalties(from);
            for (int to = from; to < classes; to++) {
                transitions[from * classes + to] = transitions[from * classes + to] / 2 + period.transitions(from, to);
            }
        }
        double errors = errors(measured);
        for (int from = 0; from < classes; from++) {
            double known = 0;
            for (int to = from; to < classes; to++) {
                known += transitions[from * classes + to];
            }
            for (int to = from + 1; to < classes; to++) {
                int pair = from * classes + to;
                double some = transitions[pair];
                joined[pair] = costTheSame(micros[from], micros[to]) && (joined[pair]
                        ? known <= errors || isLargePart(some, known)
                        : some > errors && isLargePart(some, known));
                if (joined[pair]) {
                    join(first[from], first[to]);
                }
            }
        }
    }

    /** By class, the first of its group; the class itself, if it is alone. Callers must not change it. */
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
