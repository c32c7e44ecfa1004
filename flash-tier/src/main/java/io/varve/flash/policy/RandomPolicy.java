package io.varve.flash.policy;

import java.util.random.RandomGenerator;

/**
 * Any key, each as likely as any other. Keeps nothing.
 *
 * <p>The hand goes on and passes over a random number of keys. If it were set down at a random place of the order instead, a
 * key behind a wide gap would go sooner, again and again, and since the time that a key stays is what counts, some would stay
 * too short for what others stay too long. How often a key is asked for while it stays depends on the mean of that time alone,
 * so it does no harm that two victims of one round lie apart.
 */
public final class RandomPolicy extends SearchingPolicy {
    /** Keys that are passed over before a victim: 0 to this, without it. */
    private static final int MOST_PASSED_OVER = 16;

    private final RandomGenerator random;

    public RandomPolicy(RandomGenerator random) {
        this.random = random;
    }

    @Override
    public void hit(long key) {
        // Nothing is remembered.
    }

    @Override
    public void inserted(long key) {
        // Nothing is remembered.
    }

    @Override
    public void removed(long key) {
        // Nothing is remembered.
    }

    @Override
    public boolean findVictim(KeyHand hand) {
        boolean found = hand.next();
        if (!found) {
            return false;
        }
        for (int left = random.nextInt(MOST_PASSED_OVER); left > 0 && found; left--) {
            choose(hand.key());
            found = hand.next();
        }
        if (found) {
            choose(hand.key());
        }
        looked();
        return true;
    }

    @Override
    public long ramBytes() {
        return 0;
    }
}
