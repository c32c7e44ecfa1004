package io.varve.flash.policy;

/** Caches nothing: the baseline of the other policies. Immutable. */
public final class NoPolicy implements ReplacementPolicy {
    @Override
    public void hit(long key) {
        // It stores nothing.
    }

    @Override
    public void inserted(long key) {
        throw new IllegalStateException("Without a policy nothing is cached");
    }

    @Override
    public void removed(long key) {
        // It stores nothing.
    }

    @Override
    public boolean findVictim(ClockHand clockHand) {
        return false;
    }

    @Override
    public long victim() {
        throw new IllegalStateException("Without a policy there is no victim");
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
