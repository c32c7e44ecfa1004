package io.varve.memory.shard;

import java.util.SplittableRandom;
import java.util.TreeSet;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the set operations on shard numbers. */
final class ShardSetTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 63, 64, 65, 128, 1024})
    void walksItsMembersInAscendingOrder(int shards) {
        SplittableRandom random = new SplittableRandom(shards);
        ShardSet set = new ShardSet(shards);
        for (int round = 0; round < 100; round++) {
            set.clear();
            TreeSet<Integer> expected = new TreeSet<>();
            for (int i = random.nextInt(shards + 1); i > 0; i--) {
                int shard = random.nextInt(shards);
                set.add(shard);
                expected.add(shard);
            }
            int from = 0;
            for (int shard : expected) {
                assertThat(set.contains(shard)).isTrue();
                int next = set.next(from);
                assertThat(next).isEqualTo(shard);
                from = next + 1;
            }
            assertThat(set.next(from)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 63, 64, 65, 1024})
    void removesOneMemberOrAllOfAnotherSet(int shards) {
        SplittableRandom random = new SplittableRandom(shards);
        ShardSet set = new ShardSet(shards);
        ShardSet other = new ShardSet(shards);
        for (int round = 0; round < 100; round++) {
            set.clear();
            other.clear();
            TreeSet<Integer> expected = new TreeSet<>();
            TreeSet<Integer> others = new TreeSet<>();
            for (int i = random.nextInt(shards + 1); i > 0; i--) {
                int shard = random.nextInt(shards);
                set.add(shard);
                expected.add(shard);
            }
            for (int i = random.nextInt(3); i > 0; i--) {
                int shard = random.nextInt(shards);
                other.add(shard);
                others.add(shard);
            }
            int one = random.nextInt(shards);
            set.remove(one);
            expected.remove(one);
            assertThat(set.intersects(other)).isEqualTo(others.stream().anyMatch(expected::contains));
            assertThat(set.containsAll(other)).isEqualTo(expected.containsAll(others));
            ShardSet both = new ShardSet(shards);
            both.addAll(set);
            both.addAll(other);
            assertThat(both.containsAll(set) && both.containsAll(other)).isTrue();
            set.removeAll(other);
            expected.removeAll(others);
            assertThat(both.containsAll(set)).isTrue();
            for (int shard = 0; shard < shards; shard++) {
                assertThat(set.contains(shard)).isEqualTo(expected.contains(shard));
            }
        }
    }
}
