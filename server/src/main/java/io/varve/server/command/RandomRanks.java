package io.varve.server.command;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongConsumer;

/**
 * Picks different ones of so many ranks at random, each set of them with the same chance. Immutable: static methods only.
 *
 * <p>If a large part of all is wanted, each rank in turn is picked with the chance that is left. Else the ranks are divided
 * into stretches: how many fall into each is drawn first, by drawing a rank for each that is wanted, which falls into its
 * stretch with the chance that it is one of those still free there. Then the ranks of one stretch after the other are
 * drawn. So a pick takes the same time however many ranks there are, and little is noted however many are wanted.
 */
final class RandomRanks {
    /** Of each so many ranks one at least is wanted: then each is asked. */
    private static final int FEW_PER_PICK = 3;
    /** How many picks a stretch has about. */
    private static final int STRETCH_PICKS = 1024;

    private RandomRanks() {}

    /**
     * Hands out the ranks in ascending order.
     *
     * @param size  the ranks are less than this
     * @param count how many, at most {@code size}
     */
    static void forEach(long size, long count, LongConsumer taker) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
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
            for (long rank : ranks(random, Math.min(length, size - start), quotas[i])) {
                taker.accept(start + rank);
            }
        }
    }

    private static int[] quotas(ThreadLocalRandom random, long size, long count, long length, int stretches) {
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

    /** Draws until there are as many different ones as wanted. */
    private static long[] ranks(ThreadLocalRandom random, long size, int count) {
        long[] ranks = new long[count];
        int different = 0;
        while (different < count) {
            for (int i = different; i < count; i++) {
                ranks[i] = random.nextLong(size);
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
}
