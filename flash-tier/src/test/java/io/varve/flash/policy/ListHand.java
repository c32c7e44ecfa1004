package io.varve.flash.policy;

import java.util.List;

/** A hand over a list of the test, which may change meanwhile. Confined to the test's thread. */
final class ListHand implements ClockHand {
    private final List<Long> keys;
    private final int maxSteps;
    private int at = -1;
    private int steps;

    ListHand(List<Long> keys, int maxSteps) {
        this.keys = keys;
        this.maxSteps = maxSteps;
    }

    /** Another search begins, where the last one stopped. */
    ListHand begin() {
        steps = 0;
        return this;
    }

    int steps() {
        return steps;
    }

    /** The key under the hand was removed from the list: the next moves into its place. */
    void removedHere() {
        at--;
    }

    @Override
    public boolean next() {
        if (keys.isEmpty() || steps >= maxSteps) {
            return false;
        }
        steps++;
        at = (at + 1) % keys.size();
        return true;
    }

    @Override
    public long key() {
        return keys.get(at);
    }
}
