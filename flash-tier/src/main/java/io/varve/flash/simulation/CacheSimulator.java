package io.varve.flash.simulation;

import java.util.Arrays;

import io.varve.flash.policy.ReplacementPolicy;

/** A cache of a fixed number of keys under a policy: a request for an absent key caches it. Confined to one thread. */
public final class CacheSimulator {
    /** Searches that visited at least this many keys are counted together. */
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
     * The counters since the begin of the counting. Immutable.
     *
     * @param keysTraversed keys that the searches visited
     * @param poorVictims searches that took a key that should have stayed
     */
    public record Figures(long requests, long hits, long evictions, long keysTraversed, long poorVictims) {
        /** 0 to 1; 0 without requests. */
        public double hitRatio() {
            return requests == 0 ? 0 : (double) hits / requests;
        }

        /** Mean number of keys that a search visited; 0 without evictions. */
        public double meanTraversed() {
            return evictions == 0 ? 0 : (double) keysTraversed / evictions;
        }
    }

    /**
     * @param capacity number of keys, 1 to 2^29
     * @param maxSteps maximum number of keys that a search for a victim visits, 1 or more
     */
    public CacheSimulator(ReplacementPolicy policy, int capacity, int maxSteps) {
        this.policy = policy;
        this.capacity = capacity;
        store = new SimulatedStore(policy.caches() ? capacity : 1);
        hand = store.hand(maxSteps);
    }

    /**
     * Requests a key.
     *
     * @param key 64 well-mixed bits
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

    /** Writes a requested key: a further use if it is cached, not counted. */
    public void update(long key) {
        if (store.contains(key)) {
            policy.hit(key);
        }
    }

    private void evict() {
        hand.begin();
        long before = policy.keysTraversed();
        if (!policy.findVictim(hand)) {
            throw new IllegalStateException("The policy finds no victim among " + store.size() + " keys");
        }
        store.remove(policy.victim());
        evictions++;
        // In the store's order, or in the policy's own, as for CLOCK.
        searches[(int) Math.min(policy.keysTraversed() - before, LONGEST_COUNTED)]++;
    }

    /** Resets the counters after the warm-up. */
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

    /**
     * Number of searches that visited this many keys, in the store's order or the policy's own; {@link
     * #LONGEST_COUNTED} stands for that many or more.
     */
    public long searches(int steps) {
        return searches[steps];
    }

    /** Number of cached keys. */
    public int size() {
        return store.size();
    }
}
