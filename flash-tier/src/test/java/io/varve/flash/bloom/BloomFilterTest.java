package io.varve.flash.bloom;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Tests queries for added hashes and for others. Confined to the test's threads. */
class BloomFilterTest {
    private static final int KEYS = 20_000;

    private final SplittableRandom random = new SplittableRandom(20130508);

    @ParameterizedTest
    @CsvSource({"1,1", "64,3", "100,8", "160000,5"})
    void hasNoFalseNegatives(long bits, int hashes) {
        BloomFilter filter = new BloomFilter(Arena.ofAuto(), bits, hashes);
        long[] added = random.longs(KEYS / 10).toArray();
        for (long key : added) {
            filter.add(key);
        }
        for (long key : added) {
            assertThat(filter.mightContain(key)).isTrue();
        }
    }

    /** As many bits are set as the formula says, and so many others seem to be there: the functions are independent. */
    @ParameterizedTest
    @CsvSource({"4,3", "8,5", "2,2", "10,5", "8,1"})
    void falsePositiveRatioMatchesFormula(int bitsAKey, int hashes) {
        BloomFilter filter = new BloomFilter(Arena.ofAuto(), (long) KEYS * bitsAKey, hashes);
        random.longs(KEYS).forEach(filter::add);
        double set = 1 - Math.exp(-(double) hashes / bitsAKey);
        assertThat((double) filter.countSetBits() / KEYS / bitsAKey).isCloseTo(set, within(0.01));
        long yes = random.longs(10L * KEYS).filter(filter::mightContain).count();
        assertThat(yes / (10.0 * KEYS)).isCloseTo(Math.pow(set, hashes), within(0.01));
    }

    /**
     * Keys that follow each other, as those of small numbers do that were never mixed, must not share their bits
     * either.
     */
    @Test
    void keysThatDifferLittleHaveOtherBits() {
        BloomFilter filter = new BloomFilter(Arena.ofAuto(), 8L * KEYS, 5);
        for (long key = 0; key < KEYS; key++) {
            filter.add(key);
        }
        long yes = 0;
        for (long key = KEYS; key < 2 * KEYS; key++) {
            yes += filter.mightContain(key) ? 1 : 0;
        }
        assertThat((double) yes / KEYS).isLessThan(0.05);
    }

    @Test
    void removingResetsTheBitsOfTheFunctionsThatAreNamed() {
        BloomFilter filter = new BloomFilter(Arena.ofAuto(), 1 << 20, 5);
        filter.add(17);
        assertThat(filter.countSetBits()).isEqualTo(5);
        filter.remove(17, 0b00101);
        assertThat(filter.countSetBits()).isEqualTo(3);
        assertThat(filter.mightContain(17)).isFalse();
        filter.remove(17, 0b11010);
        assertThat(filter.countSetBits()).isZero();
    }

    @Test
    void clearingForgetsEverything() {
        BloomFilter filter = new BloomFilter(Arena.ofAuto(), 1000, 3);
        random.longs(500).forEach(filter::add);
        assertThat(filter.countSetBits()).isPositive();
        filter.clear();
        assertThat(filter.countSetBits()).isZero();
    }

    @Test
    void acceptsSettings() {
        assertThat(new BloomFilter(Arena.ofAuto(), 40_000_000, 3).ramBytes()).isEqualTo(5_000_000);
        assertThat(new BloomFilter(Arena.ofAuto(), 1, 1).ramBytes()).isEqualTo(8);
    }

    @ParameterizedTest
    @CsvSource({"0,3", "-1,3", "64,0", "64,9"})
    void invalidValueIsRefused(long bits, int hashes) {
        assertThatThrownBy(() -> new BloomFilter(Arena.ofAuto(), bits, hashes)).isInstanceOf(
                IllegalArgumentException.class);
    }

    @Test
    void threadsThatAddAtOnceLoseNothing() throws InterruptedException {
        BloomFilter filter = new BloomFilter(Arena.ofAuto(), 4096, 3);
        long[] keys = random.longs(2000).toArray();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            int from = t;
            threads[t] = Thread.ofPlatform().start(() -> {
                for (int i = from; i < keys.length; i += threads.length) {
                    filter.add(keys[i]);
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (long key : keys) {
            assertThat(filter.mightContain(key)).isTrue();
        }
    }
}
