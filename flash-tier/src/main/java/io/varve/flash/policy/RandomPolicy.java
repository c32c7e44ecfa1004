package io.varve.flash.policy;

import java.util.random.RandomGenerator;

/**
 * Random replacement: evicts any key with equal probability. The searching thread guards it; it keeps no data about
 * keys.
 *
 * <p>The hand passes over a random number of keys. A hand at a random position would instead evict a key after a wide
 * gap sooner, repeatedly. Residence time is what counts, so some keys would stay too short a time and others too long.
 * The number of requests during a stay depends only on the mean of that time, so the spacing of the victims of one
 * round does no harm.
 */
public final class RandomPolicy extends SearchingPolicy {
    /** Exclusive maximum of the number of keys that are passed over before a victim. */
    private static final int MAX_SKIPPED = 16;

    private final RandomGenerator random;

    public RandomPolicy(RandomGenerator random) {
        this.random = random;
    }

    @Override
    public void hit(long key) {
        // It stores nothing.
    }

    @Override
    public void inserted(long key) {
        // It stores nothing.
    }

    @Override
    public void removed(long key) {
        // It stores nothing.
    }

    @Override
    public boolean findVictim(ClockHand clockHand) {
        boolean found = clockHand.next();
        if (!found) {
            return false;
        }
        for (int left = random.nextInt(MAX_SKIPPED); left > 0 && found; left--) {
            choose(clockHand.key());
            found = clockHand.next();
        }
        if (found) {
            choose(clockHand.key());
        }
        countVisit();
        return true;
    }

    @Override
    public long ramBytes() {
        return 0;
    }
}
