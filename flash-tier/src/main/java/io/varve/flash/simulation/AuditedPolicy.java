package io.varve.flash.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.flash.policy.ClockHand;
import io.varve.flash.policy.ReplacementPolicy;

/**
 * A policy together with an exact account of the marked keys. Confined to one thread.
 *
 * <p>In CLOCK's terms a key is marked if it was requested since the hand last passed it. A marked key that the policy
 * treats as unmarked is a false negative (TBF, section II-D, Figure 3). An unmarked key that it treats as marked is a
 * false positive.
 *
 * <p>TBF's guarantee differs: a mark lasts until as many keys were visited as the cache holds. A round of the hand is
 * longer, because keys that are inserted ahead of it are visited in the same round. With 1.2 visits for a victim the
 * hand meets 1.7 times as many keys as there are. So compared with CLOCK, TBF has false negatives without breaking its
 * own guarantee.
 */
public final class AuditedPolicy implements ReplacementPolicy {
    private final ReplacementPolicy policy;
    private final long capacity;
    private final Set<Long> marked = new HashSet<>();
    /** Number of visited keys at each key's last request. */
    private final Map<Long, Long> requestedAt = new HashMap<>();
    private final List<Long> visited = new ArrayList<>();
    private long visits;
    private long markedVisits;
    private long falseNegatives;
    private long falsePositives;
    private long broken;

    /**
     * @param policy one that visits keys in the store's order by means of the hand
     * @param capacity number of keys that the cache holds: TBF guarantees marks for as many visits
     */
    public AuditedPolicy(ReplacementPolicy policy, long capacity) {
        this.policy = policy;
        this.capacity = capacity;
    }

    @Override
    public void hit(long key) {
        policy.hit(key);
        marked.add(key);
        requestedAt.put(key, visits);
    }

    @Override
    public void inserted(long key) {
        policy.inserted(key);
        forget(key);
    }

    @Override
    public void removed(long key) {
        policy.removed(key);
        forget(key);
    }

    private void forget(long key) {
        marked.remove(key);
        requestedAt.remove(key);
    }

    @Override
    public boolean findVictim(ClockHand clockHand) {
        visited.clear();
        long poor = policy.poorVictims();
        boolean found = policy.findVictim(new ClockHand() {
            @Override
            public boolean next() {
                boolean more = clockHand.next();
                if (more) {
                    visited.add(clockHand.key());
                }
                return more;
            }

            @Override
            public long key() {
                return clockHand.key();
            }
        });
        // A search ends with the first key that it treats as unmarked; a poor victim means that there was none.
        boolean lastIsUnmarked = found && policy.poorVictims() == poor;
        for (int i = 0; i < visited.size(); i++) {
            account(visited.get(i), !(lastIsUnmarked && i == visited.size() - 1));
        }
        if (found) {
            forget(policy.victim());
        }
        return found;
    }

    private void account(Long key, boolean reportedMarked) {
        visits++;
        if (marked.remove(key)) {
            markedVisits++;
            falseNegatives += reportedMarked ? 0 : 1;
        } else {
            falsePositives += reportedMarked ? 1 : 0;
        }
        Long requested = requestedAt.get(key);
        if (requested != null && visits - requested <= capacity && !reportedMarked) {
            broken++;
        }
    }

    /**
     * Number of keys that were treated as unmarked although, since their last request, no more were visited than the
     * cache holds.
     */
    public long lostMarks() {
        return broken;
    }

    /** Fraction of all visited keys, 0 to 1; 0 if there was none. */
    public double falseNegativeRatio() {
        return visits == 0 ? 0 : (double) falseNegatives / visits;
    }

    /** Fraction of the marked visited keys, 0 to 1; 0 if there was none. */
    public double forgottenRatio() {
        return markedVisits == 0 ? 0 : (double) falseNegatives / markedVisits;
    }

    /**
     * Fraction of all visited keys, 0 to 1; 0 if there was none. TBF remembers longer on purpose, which counts here.
     */
    public double falsePositiveRatio() {
        return visits == 0 ? 0 : (double) falsePositives / visits;
    }

    @Override
    public long victim() {
        return policy.victim();
    }

    @Override
    public long keysTraversed() {
        return policy.keysTraversed();
    }

    @Override
    public long poorVictims() {
        return policy.poorVictims();
    }

    /** The policy's own memory. */
    @Override
    public long ramBytes() {
        return policy.ramBytes();
    }

    @Override
    public boolean caches() {
        return policy.caches();
    }
}
