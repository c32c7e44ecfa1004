package io.varve.flash.simulation;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;

import io.varve.flash.policy.Policies;
import io.varve.flash.policy.ReplacementPolicy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares a policy's marks with an exact account. Confined to the test's thread. */
class AuditedPolicyTest {
    private static final int CAPACITY = 2000;
    private static final int KEYS = 10_000;

    private static AuditedPolicy simulate(Policies policies, int seed) {
        try (Arena arena = Arena.ofConfined()) {
            SplittableRandom random = new SplittableRandom(seed);
            ReplacementPolicy policy = policies.create(arena, CAPACITY, random.split());
            AuditedPolicy audited = new AuditedPolicy(policy, CAPACITY);
            CacheSimulator simulator = new CacheSimulator(audited, CAPACITY, 1000);
            for (int i = 0; i < 300_000; i++) {
                // The smaller the number the likelier.
                int key = random.nextInt(1 + random.nextInt(KEYS));
                simulator.access((key + 1) * 0x9E37_79B9_7F4A_7C15L);
            }
            assertThat(simulator.figures().evictions()).isGreaterThan(10_000);
            assertThat(audited.keysTraversed()).isEqualTo(policy.keysTraversed());
            return audited;
        }
    }

    /** Its marks are in two filters: in one of them until as many keys were visited as the cache holds. */
    @ParameterizedTest
    @EnumSource(names = {"TBF", "TBF_HALF", "TBF_MARKED"})
    void tbfLosesNoMark(Policies policies) {
        for (int seed = 0; seed < 5; seed++) {
            AuditedPolicy audited = simulate(policies, seed);
            assertThat(audited.lostMarks()).isZero();
            assertThat(audited.falseNegativeRatio()).as("beside CLOCK, whose round is longer").isBetween(0.0, 0.2);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void bfdForgetsAFew(int seed) {
        AuditedPolicy audited = simulate(Policies.BFD, seed);
        assertThat(audited.falseNegativeRatio()).as("the paper's are below 0.15").isBetween(0.0001, 0.15);
        assertThat(audited.forgottenRatio()).isBetween(audited.falseNegativeRatio(), 0.5);
        assertThat(audited.lostMarks()).as("it made none, and this is what one that was broken looks like")
                .isPositive();
        assertThat(audited.falsePositiveRatio()).isBetween(0.0, 0.2);
    }
}
