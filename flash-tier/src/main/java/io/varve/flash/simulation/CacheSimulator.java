package io.varve.flash.simulation;

import java.util.Arrays;

import io.varve.flash.policy.ReplacementPolicy;

/**
 * A cache of a fixed number of keys, that a policy governs: who asks for a key that is not there has it cached. Confined to one
 * thread.
 */
public final class CacheSimulator {
    /** Searches that looked at as many keys or more are counted together. */
    public static final int LONGEST_COUNTED = 1000;

    private final ReplacementPolicy policy;
    private final int capacity;
    private final SimulatedStore store;
    private final SimulatedStore.Hand hand;
    private final long[] searches = new long[LONGEST_COUNTED + 1];
    private long requests;
    private long hits;
    private long evictions;
    private long traversedBefore;
    private long poorBefore;

    /**
     * What has happened since the counting began. Immutable.
     *
     * @param keysTraversed that the searches looked at
     * @param poorVictims   searches that had to take a key that should have stayed
     */
    public record Figures(long requests, long hits, long evictions, long keysTraversed, long poorVictims) {
        /** 0 to 1; 0 if nothing was asked for. */
        public double hitRatio() {
            return requests == 0 ? 0 : (double) hits / requests;
        }

        /** Keys that a search looked at in the mean; 0 if there was none. */
        public double meanTraversed() {
            return evictions == 0 ? 0 : (double) keysTraversed / evictions;
        }
    }

    /**
     * @param capacity  keys, 1 to 2^29
     * @param mostSteps keys that a search for a victim may look at, 1 or more
     */
    public CacheSimulator(ReplacementPolicy policy, int capacity, int mostSteps) {
        this.policy = policy;
        this.capacity = capacity;
        store = new SimulatedStore(policy.caches() ? capacity : 1);
        hand = store.hand(mostSteps);
    }

    /**
     * Somebody asks for a key.
     *
     * @param key 64 well mixed bits
     * @return whether it was cached
     */
    public boolean access(long key) {
        requests++;
        if (store.contains(key)) {
            hits++;
            policy.hit(key);
            return true;
        }
        if (policy.caches()) {
            if (store.size() >= capacity) {
                evict();
            }
            store.insert(key);
            policy.inserted(key);
        }
        return false;
    }

    /** Somebody writes a key that was asked for: used again, where it is cached, and not counted. */
    public void update(long key) {
        if (store.contains(key)) {
            policy.hit(key);
        }
    }

    private void evict() {
        hand.begin();
        long before = policy.keysTraversed();
        if (!policy.findVictim(hand)) {
            throw new IllegalStateException("The policy finds nobody to go among " + store.size() + " keys");
        }
        store.remove(policy.victim());
        evictions++;
        // In the store's order, or in one of the policy's own, as CLOCK has.
        searches[(int) Math.min(policy.keysTraversed() - before, LONGEST_COUNTED)]++;
    }

    /** Forgets what was counted: the cache is warm. */
    public void startCounting() {
        requests = 0;
        hits = 0;
        evictions = 0;
        Arrays.fill(searches, 0);
        traversedBefore = policy.keysTraversed();
        poorBefore = policy.poorVictims();
    }

    public Figures figures() {
        return new Figures(requests, hits, evictions, policy.keysTraversed() - traversedBefore,
                policy.poorVictims() - poorBefore);
    }

    /** How many searches looked at so many keys, in the store's order or the policy's own; {@link #LONGEST_COUNTED} stands for so many and more. */
    public long searches(int steps) {
        return searches[steps];
    }

    /** Keys that are cached. */
    public int size() {
        return store.size();
    }
}
