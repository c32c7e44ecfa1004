package io.varve.flash.policy;

/** Nothing is cached: what the others are measured against. */
public final class NoPolicy implements ReplacementPolicy {
    @Override
    public void hit(long key) {
        // Nothing is remembered.
    }

    @Override
    public void inserted(long key) {
        throw new IllegalStateException("Nothing is to be cached without a policy");
    }

    @Override
    public void removed(long key) {
        // Nothing is remembered.
    }

    @Override
    public boolean findVictim(KeyHand hand) {
        return false;
    }

    @Override
    public long victim() {
        throw new IllegalStateException("There is no victim where nothing is cached");
    }

    @Override
    public long keysTraversed() {
        return 0;
    }

    @Override
    public long ramBytes() {
        return 0;
    }

    @Override
    public boolean caches() {
        return false;
    }
}
