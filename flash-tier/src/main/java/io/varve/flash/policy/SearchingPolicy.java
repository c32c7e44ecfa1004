package io.varve.flash.policy;

/** What policies share that ask the hand for key after key: what they count. Guarded by whoever searches. */
abstract class SearchingPolicy implements ReplacementPolicy {
    private long traversed;
    private long poor;
    private long victim;

    /** Another key was looked at. */
    final void looked() {
        traversed++;
    }

    /** It is the victim, unless a better one is found. */
    final void choose(long key) {
        victim = key;
    }

    /** The search ended with a key that should have stayed. */
    final void chosePoorly() {
        poor++;
    }

    @Override
    public final long victim() {
        return victim;
    }

    @Override
    public final long keysTraversed() {
        return traversed;
    }

    @Override
    public final long poorVictims() {
        return poor;
    }
}
