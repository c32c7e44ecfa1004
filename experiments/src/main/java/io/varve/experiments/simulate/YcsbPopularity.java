package io.varve.experiments.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.flash.simulation.Popularity;
import site.ycsb.Utils;

/**
 * The true key probabilities of YCSB's generators, derived from their code (0.17). Immutable: static methods only.
 *
 * <p><b>A rank.</b> The zipfian generator draws u, uniform in [0, 1), and returns
 * <pre>
 *   0                             if u zeta(n) &lt; 1
 *   1                             if u zeta(n) &lt; 1 + 1/2^theta
 *   floor(n (eta u - eta + 1)^(1 / (1 - theta)))   else,  eta = (1 - (2/n)^(1-theta)) / (1 - zeta(2)/zeta(n))
 * </pre>
 * (Gray and others 1994). So rank r from 2 on has the probability (((r+1)/n)^(1-theta) - (r/n)^(1-theta)) / eta.
 *
 * <p><b>Scrambled.</b> Ranks of 10^10 + 1 items are hashed (FNV) and folded onto the keys, one more than there are; the
 * last is redrawn. So a key's probability is the sum of its ranks' probabilities. The first ranks are folded one by
 * one. The others, thousands for each key with little difference, give each key the same amount. If there are so many
 * keys that each has only a few ranks, a sample of the keys draws how many ranks it has, and which.
 *
 * <p><b>Latest</b> counts ranks backwards from the last key.
 */
final class YcsbPopularity {
    private static final double THETA = 0.99;
    private static final double POWER = 1 - THETA;
    private static final double SCRAMBLED_ITEMS = 1e10 + 1;
    private static final double SCRAMBLED_ZETA = 26.46902820178302;
    private static final long FAR = 1_000_000;
    /** Number of ranks that are folded one by one. */
    private static final int HEAD = 20_000_000;
    /** Larger numbers of keys are sampled. */
    private static final long MAX_KEYS = 20_000_000;
    private static final int SAMPLED_KEYS = 2_000_000;
    /** Number of ranks with a key of their own in a sample. */
    private static final int SAMPLED_HEAD = 1_000_000;
    private static final long SEED = 20130508;
    /** Each further kind covers a fraction of one in this many of the ranks before it. */
    private static final int PART = 1000;

    /** The probabilities of ranks among n items. */
    record Ranks(double items, double zeta, double eta) {
        static Ranks of(double items, double zeta) {
            double eta = (1 - Math.pow(2 / items, POWER)) / (1 - zetaOf(2) / zeta);
            return new Ranks(items, zeta, eta);
        }

        static Ranks of(long items) {
            return of(items, zetaOf(items));
        }

        double probability(long rank) {
            if (rank < 2) {
                return (rank == 0 ? 1 : Math.pow(0.5, THETA)) / zeta;
            }
            if (rank > FAR) {
                // The slope: a difference of nearly equal powers would lose its digits.
                return POWER * Math.pow((rank + 0.5) / items, POWER) / (rank + 0.5) / eta;
            }
            return (Math.pow((rank + 1) / items, POWER) - Math.pow(rank / items, POWER)) / eta;
        }

        /** The total probability of all ranks from this one on, 2 or more. */
        double from(double rank) {
            return (1 - Math.pow(rank / items, POWER)) / eta;
        }
    }

    private YcsbPopularity() {}

    /** Summed up to {@link #FAR}, and from there by the integral and half of its ends (Euler and Maclaurin). */
    private static double zetaOf(long items) {
        double sum = 0;
        for (long i = 1; i <= Math.min(items, FAR); i++) {
            sum += 1 / Math.pow(i, THETA);
        }
        return items <= FAR
                ? sum
                : sum + (Math.pow(items, POWER) - Math.pow(FAR, POWER)) / POWER
                        + (Math.pow(items, -THETA) - Math.pow(FAR, -THETA)) / 2;
    }

    /** @param keys 2 or more */
    static Popularity latest(long keys) {
        return keys <= MAX_KEYS ? latestOneByOne((int) keys) : latestInKinds(keys, SAMPLED_HEAD);
    }

    /**
     * @param head number of ranks that are kinds of their own; after them each kind covers a fraction more ranks than
     *     the one before
     */
    static Popularity latestInKinds(long keys, int head) {
        long items = keys - 1;
        Ranks ranks = Ranks.of(items);
        List<double[]> kinds = new ArrayList<>();
        for (long rank = 0; rank < items;) {
            long next = rank < head ? rank + 1 : Math.min(items, rank + Math.max(1, rank / PART));
            double probability = rank < head
                    ? ranks.probability(rank)
                    : (ranks.from(rank) - (next == items ? 0 : ranks.from(next))) / (next - rank);
            kinds.add(new double[] {probability, next - rank});
            rank = next;
        }
        // The last existing key is never requested.
        kinds.add(new double[] {0, 1});
        return new Popularity(kinds.stream().mapToDouble(kind -> kind[0]).toArray(),
                kinds.stream().mapToDouble(kind -> kind[1]).toArray());
    }

    private static Popularity latestOneByOne(int keys) {
        int items = keys - 1;
        Ranks ranks = Ranks.of(items);
        double[] probabilities = new double[keys];
        for (int rank = 0; rank < items; rank++) {
            probabilities[keys - 1 - rank] = ranks.probability(rank);
        }
        return Popularity.of(probabilities);
    }

    /** @param keys 1 or more */
    static Popularity scrambledZipfian(long keys) {
        Ranks ranks = Ranks.of(SCRAMBLED_ITEMS, SCRAMBLED_ZETA);
        return keys <= MAX_KEYS ? folded(ranks, (int) keys, HEAD) : sampled(ranks, keys, SAMPLED_HEAD, SAMPLED_KEYS);
    }

    /** @param head number of ranks that are folded one by one */
    static Popularity folded(Ranks ranks, int keys, int head) {
        double[] probabilities = new double[keys];
        double drawnAgain = 0;
        for (int rank = 0; rank < head; rank++) {
            int key = (int) (Utils.fnvhash64(rank) % (keys + 1L));
            if (key < keys) {
                probabilities[key] += ranks.probability(rank);
            } else {
                drawnAgain += ranks.probability(rank);
            }
        }
        double tail = ranks.from(head) / (keys + 1L);
        double taken = 1 - drawnAgain - tail;
        for (int key = 0; key < keys; key++) {
            probabilities[key] = (probabilities[key] + tail) / taken;
        }
        return Popularity.of(probabilities);
    }

    /**
     * @param head number of ranks that have a key of their own
     * @param sample number of keys that represent all others
     */
    static Popularity sampled(Ranks ranks, long keys, int head, int sample) {
        SplittableRandom random = new SplittableRandom(SEED);
        double[] probabilities = new double[head + sample];
        double[] many = new double[head + sample];
        double ranksAKey = (ranks.items - head) / keys;
        double sum = 0;
        for (int i = 0; i < probabilities.length; i++) {
            probabilities[i] = (i < head ? ranks.probability(i) : 0) + drawn(ranks, head, ranksAKey, random);
            many[i] = i < head ? 1 : (double) (keys - head) / sample;
            sum += probabilities[i] * many[i];
        }
        for (int i = 0; i < probabilities.length; i++) {
            probabilities[i] /= sum;
        }
        return new Popularity(probabilities, many);
    }

    /**
     * A key's probability from the ranks after the head: their number is Poisson-distributed, and each rank is equally
     * likely.
     */
    private static double drawn(Ranks ranks, int head, double mean, SplittableRandom random) {
        double sum = 0;
        double left = Math.exp(-mean);
        for (double product = random.nextDouble(); product > left; product *= random.nextDouble()) {
            sum += ranks.probability(random.nextLong(head, (long) ranks.items));
        }
        return sum;
    }
}
