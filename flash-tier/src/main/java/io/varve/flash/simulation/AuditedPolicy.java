package io.varve.flash.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.flash.policy.KeyHand;
import io.varve.flash.policy.ReplacementPolicy;

/**
 * A policy, and beside it an exact account of which keys are marked. Confined to one thread.
 *
 * <p>With CLOCK a key is marked if it was asked for since the hand came by it last. A marked key that the policy takes for unmarked
 * is a false negative (TBF, section II-D, Figure 3), an unmarked one that it takes for marked a false positive.
 *
 * <p>TBF promises something else: a mark lasts until as many keys were looked at as the cache holds. A round of the hand is longer,
 * because keys that come in ahead of it are looked at in the same round: with 1.2 looks for a victim the hand meets 1.7 times as
 * many keys as there are. So TBF has false negatives beside CLOCK, and breaks no promise of its own.
 */
public final class AuditedPolicy implements ReplacementPolicy {
    private final ReplacementPolicy policy;
    private final long promised;
    private final Set<Long> marked = new HashSet<>();
    /** How many keys had been looked at when a key was asked for last. */
    private final Map<Long, Long> askedAt = new HashMap<>();
    private final List<Long> lookedAt = new ArrayList<>();
    private long looked;
    private long markedLookedAt;
    private long falseNegatives;
    private long falsePositives;
    private long broken;

    /**
     * @param policy   that asks the hand for keys in the store's order
     * @param capacity keys that the cache holds: for so many looks TBF promises to remember
     */
    public AuditedPolicy(ReplacementPolicy policy, long capacity) {
        this.policy = policy;
        promised = capacity;
    }

    @Override
    public void hit(long key) {
        policy.hit(key);
        marked.add(key);
        askedAt.put(key, looked);
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
        askedAt.remove(key);
    }

    @Override
    public boolean findVictim(KeyHand hand) {
        lookedAt.clear();
        long poor = policy.poorVictims();
        boolean found = policy.findVictim(new KeyHand() {
            @Override
            public boolean next() {
                boolean more = hand.next();
                if (more) {
                    lookedAt.add(hand.key());
                }
                return more;
            }

            @Override
            public long key() {
                return hand.key();
            }
        });
        // A search ends with the first key that it takes for unmarked; with a poor victim there was none.
        boolean lastIsUnmarked = found && policy.poorVictims() == poor;
        for (int i = 0; i < lookedAt.size(); i++) {
            account(lookedAt.get(i), !(lastIsUnmarked && i == lookedAt.size() - 1));
        }
        if (found) {
            forget(policy.victim());
        }
        return found;
    }

    private void account(Long key, boolean takenForMarked) {
        looked++;
        if (marked.remove(key)) {
            markedLookedAt++;
            falseNegatives += takenForMarked ? 0 : 1;
        } else {
            falsePositives += takenForMarked ? 1 : 0;
        }
        Long asked = askedAt.get(key);
        if (asked != null && looked - asked <= promised && !takenForMarked) {
            broken++;
        }
    }

    /** Keys that were taken for unmarked although no more were looked at since they were asked for than the cache holds. */
    public long brokenPromises() {
        return broken;
    }

    /** Of all keys looked at, 0 to 1; 0 if there was none. */
    public double falseNegativeRatio() {
        return looked == 0 ? 0 : (double) falseNegatives / looked;
    }

    /** Of the marked keys looked at, 0 to 1; 0 if there was none. */
    public double forgottenRatio() {
        return markedLookedAt == 0 ? 0 : (double) falseNegatives / markedLookedAt;
    }

    /** Of all keys looked at, 0 to 1; 0 if there was none. TBF remembers longer on purpose, which counts here. */
    public double falsePositiveRatio() {
        return looked == 0 ? 0 : (double) falsePositives / looked;
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

    /** The policy's own. */
    @Override
    public long ramBytes() {
        return policy.ramBytes();
    }

    @Override
    public boolean caches() {
        return policy.caches();
    }
}
