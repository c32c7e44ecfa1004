package io.varve.flash.membership;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests queries for hashes in the filter, for removed ones, and for hashes that were never added. Confined to the
 * test's threads.
 */
class CuckooFilterTest {
    private static final int MANY = 200_000;

    private final SplittableRandom random = new SplittableRandom(2014);

    /** Beside a model, with the same hashes added more than once, and fuller than it was made for. */
    @ParameterizedTest
    @CsvSource({"1,3", "10,10", "300,300", "300,450", "5000,4000"})
    void hasNoFalseNegatives(int capacity, int max) {
        CuckooFilter filter = new CuckooFilter(Arena.ofAuto(), capacity);
        long[] hashes = random.longs(2L * max).toArray();
        Map<Long, Integer> model = new HashMap<>();
        int size = 0;
        for (int i = 0; i < 60_000; i++) {
            long hash = hashes[random.nextInt(hashes.length)];
            int times = model.getOrDefault(hash, 0);
            if (random.nextInt(5) < 3 && size < max) {
                filter.add(hash);
                model.put(hash, times + 1);
                size++;
            } else if (times > 0) {
                assertThat(filter.remove(hash)).as("step %s", i).isTrue();
                model.put(hash, times - 1);
                size--;
            }
            assertThat(filter.count()).isEqualTo(size);
            long requested = hashes[random.nextInt(hashes.length)];
            if (model.getOrDefault(requested, 0) > 0) {
                assertThat(filter.mightContain(requested)).as("step %s", i).isTrue();
            }
        }
        for (Map.Entry<Long, Integer> entry : model.entrySet()) {
            for (int times = entry.getValue(); times > 0; times--) {
                assertThat(filter.mightContain(entry.getKey())).isTrue();
                assertThat(filter.remove(entry.getKey())).isTrue();
            }
        }
        assertThat(filter.count()).isZero();
        assertThat(filter.countBeside()).isZero();
        for (long hash : hashes) {
            assertThat(filter.mightContain(hash)).as("it is empty").isFalse();
        }
    }

    /** One percent, at a byte and a half: the error rate that the tier requires. */
    @ParameterizedTest
    @ValueSource(ints = {1000, MANY, 1_234_567})
    void isSureOfNearlyAllThatIsNotInIt(int capacity) {
        CuckooFilter filter = new CuckooFilter(Arena.ofAuto(), capacity);
        random.longs(capacity).forEach(filter::add);
        assertThat(filter.countBeside()).as("found no slot").isZero();
        assertThat((double) filter.ramBytes() / capacity).isLessThanOrEqualTo(1.5);
        long yes = random.longs(MANY).filter(filter::mightContain).count();
        assertThat((double) yes / MANY).isBetween(0.004, 0.01);
    }

    /** Slots that were freed are used again: after ten times as many changes as it holds it is as good as new. */
    @Test
    void changesLeaveNothingBehind() {
        CuckooFilter filter = new CuckooFilter(Arena.ofAuto(), 10_000);
        long[] ring = random.longs(10_000).toArray();
        for (long hash : ring) {
            filter.add(hash);
        }
        for (int i = 0; i < 100_000; i++) {
            int place = i % ring.length;
            assertThat(filter.remove(ring[place])).isTrue();
            ring[place] = random.nextLong();
            filter.add(ring[place]);
        }
        assertThat(filter.countBeside()).isZero();
        assertThat(filter.count()).isEqualTo(ring.length);
        for (long hash : ring) {
            assertThat(filter.mightContain(hash)).isTrue();
        }
        long yes = random.longs(MANY).filter(filter::mightContain).count();
        assertThat((double) yes / MANY).isLessThan(0.01);
    }

    /** One thread adds and removes, so that fingerprints move; others look up present keys all the time. */
    @Test
    void lookupDuringMovesHasNoFalseNegatives() throws InterruptedException {
        int lasting = 8000;
        CuckooFilter filter = new CuckooFilter(Arena.ofShared(), 10_000);
        long[] there = random.longs(lasting).toArray();
        for (long hash : there) {
            filter.add(hash);
        }
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong forgotten = new AtomicLong();
        AtomicLong requested = new AtomicLong();
        Thread[] askers = new Thread[2];
        for (int t = 0; t < askers.length; t++) {
            SplittableRandom own = random.split();
            askers[t] = Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    if (!filter.mightContain(there[own.nextInt(lasting)])) {
                        forgotten.incrementAndGet();
                    }
                    requested.incrementAndGet();
                }
            });
        }
        long[] coming = new long[2000];
        for (int i = 0; i < 400_000 || requested.get() < 1_000_000; i++) {
            int place = i % coming.length;
            if (i >= coming.length) {
                filter.remove(coming[place]);
            }
            coming[place] = random.nextLong();
            filter.add(coming[place]);
        }
        over.set(true);
        for (Thread asker : askers) {
            asker.join();
        }
        assertThat(forgotten.get()).as("of %s lookups", requested.get()).isZero();
    }

    @Test
    void aCapacityIsOneAndMore() {
        assertThatThrownBy(() -> new CuckooFilter(Arena.ofAuto(), 0)).isInstanceOf(IllegalArgumentException.class);
    }
}
