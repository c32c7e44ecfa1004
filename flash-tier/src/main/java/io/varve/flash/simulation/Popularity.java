package io.varve.flash.simulation;

import java.util.Arrays;

/**
 * How often keys are asked for. Immutable, as long as nobody writes into the arrays.
 *
 * @param probabilities that a request is for one key of a kind, each 0 to 1
 * @param keys          how many keys of the kind there are, each above 0; the sum over all kinds of keys times probability is 1
 */
public record Popularity(double[] probabilities, double[] keys) {
    /** @throws IllegalArgumentException if the arrays are not of one length, or the probabilities do not sum up to 1 */
    public Popularity {
        if (probabilities.length != keys.length) {
            throw new IllegalArgumentException("Each kind of keys has a probability and a number");
        }
        double sum = 0;
        for (int i = 0; i < keys.length; i++) {
            sum += probabilities[i] * keys[i];
        }
        if (!(Math.abs(sum - 1) < 1e-3)) {
            throw new IllegalArgumentException("The probabilities of all keys sum up to 1, not " + sum);
        }
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

    /** How many keys there are. */
    public double count() {
        return Arrays.stream(keys).sum();
    }
}
