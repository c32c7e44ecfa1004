package io.varve.flash.policy;

/** The base of policies that search by means of the hand: their counters. The searching thread guards it. */
abstract class SearchingPolicy implements ReplacementPolicy {
    private long traversed;
    private long poor;
    private long victim;

    /** Counts a visited key. */
    final void countVisit() {
        traversed++;
    }

    /** Sets the victim, until a better one is found. */
    final void choose(long key) {
        victim = key;
    }

    /** Counts a search that ended with a key that should have stayed. */
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
