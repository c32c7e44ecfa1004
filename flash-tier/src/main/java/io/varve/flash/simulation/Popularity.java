package io.varve.flash.simulation;

import java.util.Arrays;

/** How often keys are asked for, in kinds of keys that are alike. Immutable, as long as nobody writes into the arrays. */
public final class Popularity {
    private static final double PRECISE = 1e-3;

    private final double[] probabilities;
    private final double[] keys;

    /**
     * @param probabilities that a request is for one key of a kind, each 0 to 1
     * @param keys          how many keys of the kind there are, each above 0
     * @throws IllegalArgumentException if the arrays are not of one length, or the probabilities of all keys do not sum up to 1
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
            throw new IllegalArgumentException("The probabilities of all keys sum up to 1, not " + sum);
        }
        this.probabilities = probabilities;
        this.keys = keys;
    }

    /** Of single keys. */
    public static Popularity of(double[] probabilities) {
        double[] ones = new double[probabilities.length];
        Arrays.fill(ones, 1);
        return new Popularity(probabilities, ones);
    }

    /** All alike. */
    public static Popularity uniform(double keys) {
        return new Popularity(new double[] {1 / keys}, new double[] {keys});
    }

    /** How many kinds there are. */
    public int kinds() {
        return keys.length;
    }

    /** That a request is for one key of the kind. */
    public double probability(int kind) {
        return probabilities[kind];
    }

    /** How many keys of the kind there are. */
    public double keys(int kind) {
        return keys[kind];
    }

    /** How many keys there are. */
    public double count() {
        return Arrays.stream(keys).sum();
    }
}
