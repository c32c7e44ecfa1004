package io.varve.experiments.curve;

import java.io.IOException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.varve.experiments.curve.MixedRequests.Shares;
import io.varve.experiments.simulate.KeyStream;
import io.varve.experiments.simulate.KeyStream.Operation;
import io.varve.experiments.simulate.YcsbKeys;
import org.junit.jupiter.api.Test;
import site.ycsb.generator.UniformLongGenerator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the composition of the mixes. Confined to the test's thread. They cannot be seeded; the bounds are six standard
 * deviations and more.
 */
class MixedRequestsTest {
    private static final int KEYS = 1000;
    private static final int REQUESTS = 100_000;

    private static MixedRequests mix(Shares shares, ItemSizes sizes) {
        return new MixedRequests("mix", _ -> new UniformLongGenerator(0, KEYS - 1), shares, sizes, KEYS, REQUESTS);
    }

    private static Map<Operation, Integer> count(MixedRequests requests) throws IOException {
        Map<Operation, Integer> counts = new EnumMap<>(Operation.class);
        try (KeyStream stream = requests.open()) {
            while (stream.next()) {
                counts.merge(stream.operation(), 1, Integer::sum);
                if (stream.operation() == Operation.REMOVE) {
                    assertThat(stream.bytes()).isZero();
                } else {
                    assertThat(stream.bytes()).isPositive();
                }
            }
        }
        return counts;
    }

    @Test
    void operationsHaveTheirShares() throws IOException {
        Map<Operation, Integer> counts = count(mix(new Shares(0.2, 0, 0.1, 0.1, 0, false), ItemSizes.FIELDS));
        assertThat(counts.get(Operation.READ)).isBetween(59_000, 61_000);
        assertThat(counts.get(Operation.WRITE)).isBetween(29_000, 31_000);
        assertThat(counts.get(Operation.REMOVE)).isBetween(9_300, 10_700);
    }

    @Test
    void updateFollowsRead() throws IOException {
        try (KeyStream stream = mix(new Shares(0, 1, 0, 0, 0, false), ItemSizes.ALIKE).open()) {
            for (int i = 0; i < 100; i++) {
                assertThat(stream.next() && stream.operation() == Operation.READ).isTrue();
                long key = stream.key();
                assertThat(stream.next() && stream.operation() == Operation.WRITE).isTrue();
                assertThat(stream.key()).isEqualTo(key);
            }
        }
    }

    @Test
    void aScanReadsKeysThatFollowOneAnother() throws IOException {
        Map<Long, Integer> numbers = new HashMap<>();
        for (int number = 0; number < KEYS; number++) {
            numbers.put(YcsbKeys.keyOf(number), number);
        }
        int followers = 0;
        try (KeyStream stream = mix(new Shares(0, 0, 0, 0, 1, false), ItemSizes.ALIKE).open()) {
            int last = -2;
            while (stream.next()) {
                int number = Objects.requireNonNull(numbers.get(stream.key()));
                followers += number == last + 1 ? 1 : 0;
                last = number;
            }
        }
        assertThat(followers).isGreaterThan(REQUESTS * 9 / 10);
    }

    /** An item stays as it is until it is written, removed or expired. */
    @Test
    void itemsExpireAndAreInsertedAgain() throws IOException {
        Map<Long, Long> present = new HashMap<>();
        Set<Long> removed = new HashSet<>();
        int made = 0;
        try (KeyStream stream = mix(new Shares(0.1, 0, 0, 0, 0, true), ItemSizes.WIDE).open()) {
            while (stream.next()) {
                if (stream.operation() == Operation.REMOVE) {
                    assertThat(present.remove(stream.key())).isNotNull();
                    removed.add(stream.key());
                } else {
                    made++;
                    Long before = present.put(stream.key(), stream.bytes());
                    if (stream.operation() == Operation.READ && before != null) {
                        assertThat(stream.bytes()).isEqualTo(before);
                    }
                }
            }
        }
        assertThat(made).isEqualTo(REQUESTS);
        assertThat(removed).hasSizeGreaterThan(KEYS * 9 / 10);
    }
}
