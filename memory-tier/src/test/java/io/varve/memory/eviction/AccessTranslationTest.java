package io.varve.memory.eviction;

import java.util.SplittableRandom;

import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the conversion of access bits after a change of the eviction policy. */
class AccessTranslationTest {
    private static final long MINUTE = 60_000;
    private static final long CHANGED = 1_764_000_030_000L;
    private static final EvictionPolicy LRU = EvictionPolicy.ALLKEYS_LRU;
    private static final EvictionPolicy LFU = EvictionPolicy.ALLKEYS_LFU;
    private static final EvictionPolicy HYPERBOLIC = EvictionPolicy.ALLKEYS_HYPERBOLIC;

    private static AccessTranslation change(EvictionPolicy from, EvictionPolicy to) {
        return java.util.Objects.requireNonNull(AccessTranslation.after(null, from, to, CHANGED));
    }

    @Test
    void aClockTranslatesToAtLeastTheCountOfANewKey() {
        AccessTranslation translation = change(LRU, LFU);
        int fresh = frequencyAfter(translation, AccessBits.initial(LRU, CHANGED - 5000), CHANGED + 1000);
        int idleMinutes = frequencyAfter(translation, AccessBits.initial(LRU, CHANGED - 5 * MINUTE), CHANGED + 1000);
        int idleHours = frequencyAfter(translation, AccessBits.initial(LRU, CHANGED - 300 * MINUTE), CHANGED + 1000);
        int idleDays = frequencyAfter(translation, AccessBits.initial(LRU, CHANGED - 50_000 * MINUTE), CHANGED + 1000);
        assertThat(fresh).isGreaterThan(idleMinutes);
        assertThat(idleMinutes).isGreaterThan(idleHours);
        assertThat(idleHours).isEqualTo(AccessBits.INITIAL_COUNT);
        assertThat(idleDays).isEqualTo(AccessBits.INITIAL_COUNT);
    }

    private static int frequencyAfter(AccessTranslation translation, int bits, long now) {
        return AccessBits.frequency(translation.translate(bits, now), now);
    }

    @Test
    void aTranslatedCountDecaysSinceTheChange() {
        AccessTranslation translation = change(LRU, LFU);
        int bits = AccessBits.initial(LRU, CHANGED - 300 * MINUTE);
        assertThat(frequencyAfter(translation, bits, CHANGED + 3 * MINUTE)).isEqualTo(AccessBits.INITIAL_COUNT - 3);
        assertThat(frequencyAfter(translation, bits, CHANGED + 9 * MINUTE)).isZero();
    }

    @Test
    void aFrequencyTranslatesToTheTimeOfItsLastAccess() {
        AccessTranslation translation = change(LFU, LRU);
        int bits = AccessBits.counted(77, CHANGED - 7 * MINUTE);
        long now = CHANGED + 5000;
        assertThat(AccessBits.idleMillis(translation.translate(bits, now), now)).isBetween(7 * MINUTE,
                8 * MINUTE + 5000);
    }

    @Test
    void aResidenceTranslatesToItsAccessesOrTheTimeOfTheChange() {
        int bits = Residence.begun(60_000);
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 10_000; i++) {
            bits = Residence.touched(bits, 60_001, random.nextLong());
        }
        int count = frequencyAfter(change(HYPERBOLIC, LFU), bits, CHANGED);
        assertThat(count).as("that of 10,000 accesses").isBetween(35, 65);
        assertThat(frequencyAfter(change(HYPERBOLIC, LFU), Residence.begun(60_000), CHANGED))
                .isEqualTo(AccessBits.INITIAL_COUNT);
        int clock = change(HYPERBOLIC, LRU).translate(bits, CHANGED + 9000);
        assertThat(AccessBits.idleMillis(clock, CHANGED + 9000)).isEqualTo(9000);
    }

    /** Whatever is written under the present policy is left as it is, at any later time. */
    @Test
    void bitsOfThePresentPolicyAreNotTranslated() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 100_000; i++) {
            long written = CHANGED + random.nextLong(30L * 24 * 60 * MINUTE);
            long now = written + random.nextLong(10L * 24 * 60 * MINUTE);
            int frequency = AccessBits.counted(random.nextInt(256), written);
            assertThat(change(LRU, LFU).translate(frequency, now)).isEqualTo(frequency);
            assertThat(change(HYPERBOLIC, LFU).translate(frequency, now)).isEqualTo(frequency);
            int clock = AccessBits.initial(LRU, written);
            assertThat(change(LFU, LRU).translate(clock, now)).isEqualTo(clock);
            assertThat(change(HYPERBOLIC, LRU).translate(clock, now)).isEqualTo(clock);
        }
    }

    @Test
    void accessBitsSurviveAPolicyChangeAndItsReversal() {
        AccessTranslation there = change(LRU, LFU);
        AccessTranslation back = java.util.Objects
                .requireNonNull(AccessTranslation.after(there, LFU, LRU, CHANGED + 2 * MINUTE));
        int bits = AccessBits.initial(LRU, CHANGED - 4000);
        long now = CHANGED + 3 * MINUTE;
        assertThat(AccessBits.idleMillis(back.translate(bits, now), now)).isBetween(2 * MINUTE, 4 * MINUTE + 4000);
        AccessTranslation again = java.util.Objects
                .requireNonNull(AccessTranslation.after(change(LFU, LRU), LRU, LFU, CHANGED + 2 * MINUTE));
        int counted = AccessBits.counted(200, CHANGED - MINUTE);
        assertThat(frequencyAfter(again, counted, CHANGED + 2 * MINUTE))
                .isGreaterThanOrEqualTo(AccessBits.INITIAL_COUNT);
        AccessTranslation last = change(LRU, LFU);
        for (int i = 0; i < 100; i++) {
            last = java.util.Objects.requireNonNull(
                    AccessTranslation.after(last, i % 2 == 0 ? LFU : LRU, i % 2 == 0 ? LRU : LFU,
                            CHANGED + i * MINUTE));
        }
        int depth = 0;
        for (AccessTranslation at = last; at != null; at = at.earlier()) {
            depth++;
        }
        assertThat(depth).isLessThan(10);
    }

    @Test
    void aPolicyThatKeepsTheSameBitsKeepsTheTranslation() {
        assertThat(AccessTranslation.after(null, LRU, EvictionPolicy.VOLATILE_TTL, CHANGED)).isNull();
        AccessTranslation first = change(LRU, LFU);
        assertThat(AccessTranslation.after(first, LFU, EvictionPolicy.VOLATILE_LFU, CHANGED + 9)).isSameAs(first);
        assertThat(AccessTranslation.after(first, LFU, HYPERBOLIC, CHANGED + 9)).isNull();
    }
}
