package io.varve.server.command.value;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import java.util.random.RandomGenerator;

/**
 * Picks different ones of so many ranks at random, each set of them with the same chance. Immutable: static methods only.
 *
 * <p>If a large part of all is wanted, each rank in turn is picked with the chance that is left. Else the ranks are divided
 * into stretches: how many fall into each is drawn first, by drawing a rank for each that is wanted, which falls into its
 * stretch with the chance that it is one of those still free there. Then the ranks of one stretch after the other are
 * drawn. So a pick takes the same time however many ranks there are, and little is noted however many are wanted.
 */
public final class RandomRanks {
    /** No reply has more picks with repetition: an array of more elements has no length that clients read. */
    public static final long MOST_PICKS = Integer.MAX_VALUE / 2;

    /** Of each so many ranks one at least is wanted: then each is asked. */
    private static final int FEW_PER_PICK = 3;
    /** How many picks a stretch has about. */
    private static final int STRETCH_PICKS = 1024;
    /** So many places are noted on the heap at a time. */
    private static final int MOST_NOTED = 1 << 13;

    private RandomRanks() {}

    /**
     * Hands out the ranks in ascending order.
     *
     * @param size  the ranks are less than this
     * @param count how many, at most {@code size}
     */
    public static void forEach(long size, long count, LongConsumer taker) {
        forEach(ThreadLocalRandom.current(), size, count, taker);
    }

    /** The same; the same ranks of a generator of the same seed. */
    public static void forEach(RandomGenerator random, long size, long count, LongConsumer taker) {
        if (count == 0) {
            return;
        }
        if (count > size / FEW_PER_PICK) {
            long missing = count;
            for (long rank = 0; missing > 0; rank++) {
                if (random.nextLong(size - rank) < missing) {
                    taker.accept(rank);
                    missing--;
                }
            }
            return;
        }
        int stretches = Math.toIntExact((count + STRETCH_PICKS - 1) / STRETCH_PICKS);
        long length = (size + stretches - 1) / stretches;
        int[] quotas = quotas(random, size, count, length, stretches);
        for (int i = 0; i < stretches; i++) {
            long start = i * length;
            for (long rank : different(random, Math.min(length, size - start), quotas[i], _ -> true)) {
                taker.accept(start + rank);
            }
        }
    }

    private static int[] quotas(RandomGenerator random, long size, long count, long length, int stretches) {
        int[] quotas = new int[stretches];
        for (long i = 0; i < count; i++) {
            boolean free = false;
            while (!free) {
                int stretch = (int) (random.nextLong(size) / length);
                free = random.nextLong(Math.min(length, size - stretch * length)) >= quotas[stretch];
                quotas[stretch] += free ? 1 : 0;
            }
        }
        return quotas;
    }

    /**
     * Draws until there are as many different ones as wanted.
     *
     * @param size    the ranks are less than this
     * @param allowed asked about each; as many as are wanted have to be
     * @return the ranks, in ascending order
     */
    public static long[] different(RandomGenerator random, long size, int count, LongPredicate allowed) {
        long[] ranks = new long[count];
        int different = 0;
        while (different < count) {
            for (int i = different; i < count; i++) {
                do {
                    ranks[i] = random.nextLong(size);
                } while (!allowed.test(ranks[i]));
            }
            Arrays.sort(ranks);
            different = 0;
            for (int i = 0; i < count; i++) {
                if (i == 0 || ranks[i] != ranks[different - 1]) {
                    ranks[different++] = ranks[i];
                }
            }
        }
        return ranks;
    }

    /**
     * Goes to elements of a collection, any each time.
     *
     * @param count how often
     * @param taker run with the cursor at each
     */
    public static void forEachPick(Pickable of, long count, Runnable taker) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (of.isWalked()) {
            for (long left = count; left > 0; left -= MOST_NOTED) {
                for (long place : places(random, of, (int) Math.min(left, MOST_NOTED))) {
                    of.show(place);
                    taker.run();
                }
            }
            return;
        }
        for (long i = 0; i < count; i++) {
            of.seek(random.nextLong(of.size()));
            taker.run();
        }
    }

    /** The places of some picks, which are found in one walk, in ascending order, and told in their own. */
    private static long[] places(ThreadLocalRandom random, Pickable of, int count) {
        // The rank of the element, and behind it the pick's own number.
        long[] picks = new long[count];
        for (int i = 0; i < count; i++) {
            picks[i] = random.nextLong(of.size()) << Integer.SIZE | i;
        }
        Arrays.sort(picks);
        boolean there = of.seek(0);
        long rank = 0;
        long[] places = new long[count];
        for (long pick : picks) {
            for (; there && rank < pick >>> Integer.SIZE; rank++) {
                there = of.next();
            }
            places[(int) pick] = of.here();
        }
        return places;
    }
}
