package io.varve.memory.offheap;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests the registration of live ranges. It never touches the addresses, which lie far below anything the system maps.
 */
class LiveRangesTest {
    private static final long START = 0x1000;
    private static final int MANY = 3_000;

    @AfterEach
    void remove() {
        LiveRanges.remove(START);
    }

    @Test
    void checkedModeIsOnInTests() {
        assertThat(Memory.CHECKED).isTrue();
    }

    @Test
    void onlyRangesWhollyInsideAreLive() {
        LiveRanges.add(START, 100);
        assertThatCode(() -> LiveRanges.check(START, 100)).doesNotThrowAnyException();
        assertThatCode(() -> LiveRanges.check(START + 99, 1)).doesNotThrowAnyException();
        refused(START - 1, 1);
        refused(START - 1, 2);
        refused(START + 99, 2);
        refused(START + 100, 1);
        refused(START, -1);
        refused(START, Long.MAX_VALUE);
    }

    @Test
    void emptyRangesAreNotRead() {
        assertThatCode(() -> LiveRanges.check(0, 0)).doesNotThrowAnyException();
        LiveRanges.add(START, 0);
        refused(START, 1);
    }

    @Test
    void theLongerOfTwoRangesCounts() {
        LiveRanges.add(START, 100);
        LiveRanges.add(START, 50);
        assertThatCode(() -> LiveRanges.check(START, 100)).doesNotThrowAnyException();
        LiveRanges.remove(START);
        refused(START, 1);
    }

    @Test
    void aNewRangeReplacesStaleRangesInsideIt() {
        LiveRanges.add(START + 10, 20);
        LiveRanges.add(START, 100);
        assertThatCode(() -> LiveRanges.check(START + 15, 80)).doesNotThrowAnyException();
    }

    @Test
    void manyRangesAreFoundInAnyOrder() {
        List<Long> starts = new ArrayList<>(LongStream.range(0, MANY).mapToObj(i -> START + 16 * i).toList());
        Collections.shuffle(starts, new Random(5));
        starts.forEach(start -> LiveRanges.add(start, 8));
        for (long start : starts) {
            LiveRanges.check(start, 8);
            refused(start, 9);
            refused(start + 8, 1);
        }
        Collections.shuffle(starts, new Random(6));
        List<Long> removed = starts.subList(0, MANY / 2);
        removed.forEach(LiveRanges::remove);
        removed.forEach(start -> refused(start, 1));
        for (long start : starts.subList(MANY / 2, MANY)) {
            LiveRanges.check(start, 8);
            LiveRanges.remove(start);
            refused(start, 1);
        }
    }

    /** Pages are remembered once they were found live: what is removed or hidden later must be forgotten. */
    @Test
    void pagesOfRemovedRangesAreRefused() {
        for (long length : new long[] {10_000, 1 << 20, 1L << 32}) {
            LiveRanges.add(START, length);
            long last = START + length - 8;
            for (int round = 0; round < 2; round++) {
                LiveRanges.check(START, 8);
                LiveRanges.check(START + length / 2, 8);
                LiveRanges.check(last, 8);
                refused(last, 9);
            }
            LiveRanges.remove(START);
            refused(START, 8);
            refused(START + length / 2, 8);
            refused(last, 8);
        }
        LiveRanges.add(START + 5_000, 10_000);
        LiveRanges.check(START + 14_000, 8);
        LiveRanges.add(START, 8_000);
        refused(START + 14_000, 8);
        LiveRanges.check(START + 7_000, 8);
        LiveRanges.add(START + 1_000, 100);
        refused(START + 7_000, 8);
        LiveRanges.remove(START + 1_000);
    }

    /** A live range stays live to its reader while others come and go around it; an invalid one is refused. */
    @Test
    void rangesOfOtherThreadsDoNotInterfere() throws Exception {
        long mine = START + 16L * (MANY / 2 + 1);
        LiveRanges.add(mine, 8);
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            Future<?> changes = other.submit(() -> {
                for (int round = 0; round < 20; round++) {
                    for (long i = 0; i < MANY; i += 2) {
                        LiveRanges.add(START + 16 * i, 8);
                    }
                    for (long i = 0; i < MANY; i += 2) {
                        LiveRanges.remove(START + 16 * i);
                    }
                }
                over.set(true);
            });
            do {
                LiveRanges.check(mine, 8);
                refused(mine + 8, 1);
            } while (!over.get() && !changes.isDone());
            changes.get();
        } finally {
            LiveRanges.remove(mine);
        }
    }

    private static void refused(long address, long length) {
        assertThatThrownBy(() -> LiveRanges.check(address, length)).isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining(Long.toHexString(address));
    }
}
