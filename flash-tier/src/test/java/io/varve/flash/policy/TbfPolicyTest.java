package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The two sub-filters (TBF, section II, Figure 1(b)). Confined to the test's thread. */
class TbfPolicyTest {
    private static TbfPolicy policy(int capacity) {
        return new TbfPolicy(Arena.ofAuto(), capacity, 64, 3, false);
    }

    private static List<Long> keys(int count) {
        SplittableRandom random = new SplittableRandom(4711);
        return new ArrayList<>(random.longs(count).boxed().toList());
    }

    @Test
    void aVictimIsInNeitherFilter() {
        List<Long> keys = keys(4);
        TbfPolicy policy = policy(100);
        ListHand hand = new ListHand(keys, 10);
        policy.hit(keys.get(0));
        policy.hit(keys.get(1));
        assertThat(policy.findVictim(hand.begin())).isTrue();
        assertThat(policy.victim()).isEqualTo(keys.get(2));
        assertThat(policy.keysTraversed()).isEqualTo(3);
        assertThat(policy.poorVictims()).isZero();
    }

    @Test
    void searchContinuesWhereTheLastOneStopped() {
        List<Long> keys = keys(4);
        TbfPolicy policy = policy(100);
        ListHand hand = new ListHand(keys, 10);
        for (int i = 0; i < 6; i++) {
            assertThat(policy.findVictim(hand.begin())).isTrue();
            assertThat(policy.victim()).isEqualTo(keys.get(i % 4));
        }
    }

    /** If bytes limit the cache, it holds fewer keys than it could, and a round of the hand visits those. */
    @Test
    void filtersFlipSoonerWhereFewerAreHeld() {
        TbfPolicy policy = policy(100);
        ListHand hand = new ListHand(keys(10), 1);
        policy.holds(10);
        for (int i = 0; i < 40; i++) {
            assertThat(policy.flips()).isEqualTo(i / 10);
            assertThat(policy.findVictim(hand.begin())).isTrue();
        }
        policy.holds(1000);
        for (int i = 0; i < 99; i++) {
            assertThat(policy.findVictim(hand.begin())).isTrue();
        }
        assertThat(policy.flips()).as("never later than what it can hold").isEqualTo(4);
        assertThat(policy.findVictim(hand.begin())).isTrue();
        assertThat(policy.flips()).isEqualTo(5);
    }

    @Test
    void filtersFlipAfterAsManyVisitsAsTheCapacity() {
        List<Long> keys = keys(10);
        TbfPolicy policy = policy(10);
        ListHand hand = new ListHand(keys, 1);
        policy.hit(keys.get(3));
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 10; i++) {
                assertThat(policy.flips()).isEqualTo(round);
                assertThat(policy.findVictim(hand.begin())).isTrue();
                assertThat(policy.poorVictims()).as("kept but for the limit").isEqualTo(round + (i >= 3 ? 1 : 0));
            }
        }
        long poor = policy.poorVictims();
        for (int i = 0; i < 4; i++) {
            assertThat(policy.findVictim(hand.begin())).isTrue();
        }
        assertThat(policy.poorVictims()).as("forgotten after two rounds").isEqualTo(poor);
    }

    @Test
    void forcedVictimIsMarkedOnlyInPreviousFilter() {
        List<Long> keys = keys(5);
        TbfPolicy policy = policy(5);
        ListHand hand = new ListHand(keys, 5);
        keys.forEach(policy::hit);
        assertThat(policy.findVictim(hand.begin())).isTrue();
        assertThat(policy.victim()).as("all in the current one: the first").isEqualTo(keys.get(0));
        assertThat(policy.flips()).isEqualTo(1);
        policy.hit(keys.get(0));
        policy.hit(keys.get(1));
        policy.hit(keys.get(3));
        assertThat(policy.findVictim(hand.begin())).isTrue();
        assertThat(policy.victim()).isEqualTo(keys.get(2));
        assertThat(policy.poorVictims()).isEqualTo(2);
    }

    @Test
    void markOnInsertionProtectsNewKeys() {
        List<Long> keys = keys(3);
        TbfPolicy policy = new TbfPolicy(Arena.ofAuto(), 100, 64, 3, true);
        policy.inserted(keys.get(0));
        assertThat(policy.findVictim(new ListHand(keys, 10))).isTrue();
        assertThat(policy.victim()).isEqualTo(keys.get(1));
    }

    @Test
    void noPolicyEvictsNothing() {
        assertThat(policy(10).findVictim(new ListHand(new ArrayList<>(), 10))).isFalse();
    }

    /**
     * Never a false negative: what was hit since the flip before the last is a victim only where the search had to end.
     * Small filters, so that false positives are many, and searches of all lengths.
     */
    @ParameterizedTest
    @CsvSource({"50,4,3,10", "50,2,2,50", "200,4,3,200", "200,1,1,3"})
    void neverEvictsKeysHitSinceSecondLastFlip(int capacity, int bits, int hashes, int maxSteps) {
        SplittableRandom random = new SplittableRandom(capacity + bits);
        List<Long> cached = new ArrayList<>();
        TbfPolicy policy = new TbfPolicy(Arena.ofAuto(), capacity, bits, hashes, false);
        ListHand hand = new ListHand(cached, maxSteps);
        Set<Long> current = new HashSet<>();
        Set<Long> previous = new HashSet<>();
        int chosen = 0;
        for (int i = 0; i < 50_000; i++) {
            long key = mixed((long) random.nextInt(capacity * 3) * random.nextInt(3));
            if (cached.contains(key)) {
                policy.hit(key);
                current.add(key);
                continue;
            }
            if (cached.size() == capacity) {
                long poor = policy.poorVictims();
                long flips = policy.flips();
                Set<Long> marked = new HashSet<>(previous);
                marked.addAll(current);
                assertThat(policy.findVictim(hand.begin())).isTrue();
                if (policy.poorVictims() == poor && policy.flips() == flips) {
                    assertThat(marked).as("request %d", i).doesNotContain(policy.victim());
                    chosen++;
                }
                if (policy.flips() != flips) {
                    previous = current;
                    current = new HashSet<>();
                    assertThat(policy.flips()).isEqualTo(flips + 1);
                    if (policy.poorVictims() == poor) {
                        assertThat(previous).as("request %d", i).doesNotContain(policy.victim());
                    }
                }
                int at = cached.indexOf(policy.victim());
                cached.set(at, key);
            } else {
                cached.add(key);
            }
            policy.inserted(key);
        }
        assertThat(chosen).isGreaterThan(1000);
    }

    private static long mixed(long number) {
        long mixed = (number + 1) * 0x9E37_79B9_7F4A_7C15L;
        return (mixed ^ mixed >>> 32) * 0xBF58_476D_1CE4_E5B9L;
    }

    @Test
    void takesAByteAKey() {
        int keys = 10_000_000;
        TbfPolicy policy = new TbfPolicy(Arena.ofAuto(), keys, TbfPolicy.BITS, TbfPolicy.HASHES, false);
        assertThat(policy.ramBytes()).isBetween((long) keys, keys * 105L / 100);
    }
}
