package io.varve.memory.locality.curve;

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that buckets cover all numbers, in order, with the specified precision. Confined to the test's thread. */
class LogBucketsTest {
    private static final LogBuckets SCALE = new LogBuckets(6, 48);

    @Test
    void bucketsFollowOneAnotherWithoutAGap() {
        for (int bucket = 0; bucket < SCALE.buckets(); bucket++) {
            long lowest = SCALE.lowest(bucket);
            assertThat(SCALE.bucket(lowest)).isEqualTo(bucket);
            assertThat(SCALE.bucket(SCALE.lowest(bucket + 1) - 1)).isEqualTo(bucket);
        }
        assertThat(SCALE.lowest(0)).isZero();
        assertThat(SCALE.lowest(SCALE.buckets() - 1)).isEqualTo(1L << 48);
        assertThat(SCALE.bucket(Long.MAX_VALUE)).isEqualTo(SCALE.buckets() - 1);
    }

    @Test
    void smallNumbersHaveOneBucketEachAndOthersAPrecisionOfASixtyFourth() {
        for (int number = 0; number < 128; number++) {
            assertThat(SCALE.bucket(number)).isEqualTo(number);
        }
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 100_000; i++) {
            long number = random.nextLong(1L << random.nextInt(1, 48));
            int bucket = SCALE.bucket(number);
            assertThat(number).isBetween(SCALE.lowest(bucket), SCALE.lowest(bucket + 1) - 1);
            assertThat((SCALE.lowest(bucket + 1) - SCALE.lowest(bucket) - 1) * 64).isLessThanOrEqualTo(number);
        }
    }
}
