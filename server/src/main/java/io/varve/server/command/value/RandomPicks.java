package io.varve.server.command.value;

import java.util.SplittableRandom;

/**
 * Which of so many are picked, each with the same chance: it is asked once for each of them in turn, and notes nothing.
 * Confined to one command. Two with the same seed pick the same ones.
 */
public final class RandomPicks {
    private final SplittableRandom random;
    private long left;
    private long missing;

    /** @param wanted how many of them are picked, at most all */
    public RandomPicks(long seed, long of, long wanted) {
        random = new SplittableRandom(seed);
        left = of;
        missing = wanted;
    }

    /** Whether there are more to come. */
    public boolean areMissing() {
        return missing > 0;
    }

    /** Whether the next one is picked. */
    public boolean takeNext() {
        if (missing == 0 || random.nextLong(left--) >= missing) {
            return false;
        }
        missing--;
        return true;
    }
}
