package io.varve.server.command.value;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import java.util.random.RandomGenerator;

/**
 * Picks distinct random ranks, every combination with the same probability. Immutable: static methods only.
 *
 * <p>If a large part of all ranks is requested, each rank in turn is picked with the remaining probability. Otherwise
 * the ranks are divided into stretches. First, the number of picks per stretch is drawn: for each pick a random rank
 * selects its stretch, with the probability that the rank is still free there. Then the ranks of each stretch are
 * drawn. So the time per pick does not depend on the number of ranks, and memory use stays small for any number of
 * picks.
 */
public final class RandomRanks {
    /** Maximum picks with repetition in one reply: clients cannot read a longer array. */
    public static final long MAX_PICKS = Integer.MAX_VALUE / 2;

    /** If at least one of this many ranks is requested, each rank is tested. */
    private static final int FEW_PER_PICK = 3;
    /** Approximate number of picks per stretch. */
    private static final int STRETCH_PICKS = 1024;
    /** Maximum number of positions kept on the heap at a time. */
    private static final int MAX_RECORDED = 1 << 13;

    private RandomRanks() {}

    /**
     * Passes the ranks in ascending order.
     *
     * @param size upper bound of the ranks, exclusive
     * @param count number of ranks, at most {@code size}
     */
    public static void forEach(long size, long count, LongConsumer taker) {
        forEach(ThreadLocalRandom.current(), size, count, taker);
    }

    /** Passes the ranks in ascending order. Generators with the same seed give the same ranks. */
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
     * Draws until there are enough distinct ranks.
     *
     * @param size upper bound of the ranks, exclusive
     * @param allowed tests each rank; it must allow at least {@code count} ranks
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
     * Moves the cursor to random elements of a collection, with repetition.
     *
     * @param count number of picks
     * @param taker runs with the cursor at each
     */
    public static void forEachPick(Pickable of, long count, Runnable taker) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (of.isSequential()) {
            for (long left = count; left > 0; left -= MAX_RECORDED) {
                for (long place : places(random, of, (int) Math.min(left, MAX_RECORDED))) {
                    of.moveToPosition(place);
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

    /** The positions of some picks, in pick order. One walk finds them in ascending order. */
    private static long[] places(ThreadLocalRandom random, Pickable of, int count) {
        // The rank of the element in the upper half, the number of the pick in the lower.
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
            places[(int) pick] = of.position();
        }
        return places;
    }
}
