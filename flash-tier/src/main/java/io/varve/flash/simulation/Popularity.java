package io.varve.flash.simulation;

import java.util.Arrays;

/**
 * The request probabilities of keys, grouped into kinds of equal probability. Immutable, as long as no caller writes
 * into the arrays.
 */
public final class Popularity {
    private static final double PRECISE = 1e-3;

    private final double[] probabilities;
    private final double[] keys;

    /**
     * @param probabilities for each kind, the probability that a request is for a given key of it, 0 to 1
     * @param keys number of keys of the kind, each above 0
     * @throws IllegalArgumentException if the arrays differ in length, or the probabilities of all keys do not sum up
     *     to 1
     */
    public Popularity(double[] probabilities, double[] keys) {
        if (probabilities.length != keys.length) {
            throw new IllegalArgumentException("Each kind of keys has a probability and a number");
        }
        double sum = 0;
        for (int i = 0; i < keys.length; i++) {
            sum += probabilities[i] * keys[i];
        }
        if (!(Math.abs(sum - 1) < PRECISE)) {
            throw new IllegalArgumentException("The sum of all probabilities is 1, not " + sum);
        }
        this.probabilities = probabilities;
        this.keys = keys;
    }

    /** Creates a popularity of single keys. */
    public static Popularity of(double[] probabilities) {
        double[] ones = new double[probabilities.length];
        Arrays.fill(ones, 1);
        return new Popularity(probabilities, ones);
    }

    /** Creates a popularity of equally frequent keys. */
    public static Popularity uniform(double keys) {
        return new Popularity(new double[] {1 / keys}, new double[] {keys});
    }

    /** Number of kinds. */
    public int kinds() {
        return keys.length;
    }

    /** Probability of a request for one key of the kind. */
    public double probability(int kind) {
        return probabilities[kind];
    }

    /** Number of keys of the kind. */
    public double keys(int kind) {
        return keys[kind];
    }

    /** Number of keys. */
    public double count() {
        return Arrays.stream(keys).sum();
    }
}
