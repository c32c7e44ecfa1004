package io.varve.flash.policy;

import java.util.random.RandomGenerator;

/** Any key, each as likely as any other, as far as the hand can be set down by chance. Keeps nothing. */
public final class RandomPolicy extends SearchingPolicy {
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
        hand.jump(random.nextLong());
        if (!hand.next()) {
            return false;
        }
        looked();
        choose(hand.key());
        return true;
    }

    @Override
    public long ramBytes() {
        return 0;
    }
}
