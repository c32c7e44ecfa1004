package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the common contract of all policies. Confined to the test's threads. */
class PoliciesTest {
    private static final int CAPACITY = 300;

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aVictimIsOneThatIsCached(Policies kind) {
        SplittableRandom random = new SplittableRandom(7);
        ReplacementPolicy policy = kind.create(Arena.ofAuto(), CAPACITY, random.split());
        List<Long> cached = new ArrayList<>();
        ListHand hand = new ListHand(cached, CAPACITY);
        assertThat(policy.caches()).isTrue();
        for (int i = 0; i < 30_000; i++) {
            long key = (1 + random.nextInt(CAPACITY * 2)) * 0x9E37_79B9_7F4A_7C15L;
            int at = cached.indexOf(key);
            if (at >= 0) {
                if (random.nextInt(20) == 0) {
                    cached.remove(at);
                    policy.removed(key);
                } else {
                    policy.hit(key);
                }
                continue;
            }
            if (cached.size() == CAPACITY) {
                assertThat(policy.findVictim(hand.begin())).isTrue();
                assertThat(cached.remove(policy.victim())).as("%s is cached", policy.victim()).isTrue();
            }
            cached.add(key);
            policy.inserted(key);
        }
        while (!cached.isEmpty()) {
            assertThat(policy.findVictim(hand.begin())).isTrue();
            assertThat(cached.remove(policy.victim())).isTrue();
        }
        assertThat(policy.findVictim(hand.begin())).as("nothing is left").isFalse();
    }

    /** Hits come from all threads at once, with the changes of one. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void hitsFromOtherThreadsDisturbNothing(Policies kind) throws InterruptedException {
        ReplacementPolicy policy = kind.create(Arena.ofAuto(), CAPACITY, new SplittableRandom(1));
        SplittableRandom random = new SplittableRandom(2);
        Thread[] readers = new Thread[3];
        for (int t = 0; t < readers.length; t++) {
            SplittableRandom own = random.split();
            readers[t] = Thread.ofPlatform().start(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    policy.hit((1 + own.nextInt(CAPACITY * 2)) * 0x9E37_79B9_7F4A_7C15L);
                }
            });
        }
        Set<Long> cached = new LinkedHashSet<>();
        List<Long> order = new ArrayList<>();
        ListHand hand = new ListHand(order, CAPACITY);
        for (int i = 0; i < 20_000; i++) {
            long key = (1 + random.nextInt(CAPACITY * 2)) * 0x9E37_79B9_7F4A_7C15L;
            if (cached.contains(key)) {
                continue;
            }
            if (cached.size() == CAPACITY) {
                assertThat(policy.findVictim(hand.begin())).isTrue();
                assertThat(cached.remove(policy.victim())).isTrue();
                order.remove(policy.victim());
            }
            cached.add(key);
            order.add(key);
            policy.inserted(key);
        }
        for (Thread reader : readers) {
            reader.interrupt();
            reader.join();
        }
    }

    /** Bytes a key: the paper's byte for the Bloom filters, its 16 and 24 for what has an index. */
    @ParameterizedTest
    @CsvSource({"tbf,1.05", "tbf-marked,1.05", "tbf-half,0.53", "bfd,1.05", "bfd-marked,1.05", "clock,16.3",
            "clock-marked,16.3",
            "lru,24.1",
            "sieve,24.2", "s3-fifo,47", "random,0", "none,0"})
    void takesSoManyBytesAKey(String name, double max) {
        int keys = 2_000_000;
        try (Arena arena = Arena.ofConfined()) {
            double bytes = (double) Policies.of(name).create(arena, keys, new SplittableRandom(1)).ramBytes() / keys;
            assertThat(bytes).isBetween(max * 0.9, max);
        }
    }

    @Test
    void withoutAPolicyNothingIsCached() {
        assertThat(Policies.NONE.create(Arena.ofAuto(), 10, new SplittableRandom(1)).caches()).isFalse();
    }

    @Test
    void unknownNameIsRefusedWithKnownNames() {
        assertThatThrownBy(() -> Policies.of("mru")).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'mru'").hasMessageContaining("tbf, ").hasMessageContaining("s3-fifo");
        for (Policies policy : Policies.values()) {
            assertThat(Policies.of(policy.optionName())).isSameAs(policy);
        }
    }
}
