package io.varve.memory.offheap;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Addresses here are never touched, only checked: far below where the system maps anything. */
class LiveRangesTest {
    private static final long START = 0x1000;

    @AfterEach
    void remove() {
        LiveRanges.remove(START);
    }

    @Test
    void theModeIsOnInTests() {
        assertThat(Memory.CHECKED).isTrue();
    }

    @Test
    void onlyWhatLiesWhollyInsideIsLive() {
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
    void nothingIsReadOfAnEmptyRange() {
        assertThatCode(() -> LiveRanges.check(0, 0)).doesNotThrowAnyException();
        LiveRanges.add(START, 0);
        refused(START, 1);
    }

    @Test
    void theLongerOfTwoAnnouncementsHolds() {
        LiveRanges.add(START, 100);
        LiveRanges.add(START, 50);
        assertThatCode(() -> LiveRanges.check(START, 100)).doesNotThrowAnyException();
        LiveRanges.remove(START);
        refused(START, 1);
    }

    @Test
    void aNewRangeEndsForgottenOnesInsideIt() {
        LiveRanges.add(START + 10, 20);
        LiveRanges.add(START, 100);
        assertThatCode(() -> LiveRanges.check(START + 15, 80)).doesNotThrowAnyException();
    }

    private static void refused(long address, long length) {
        assertThatThrownBy(() -> LiveRanges.check(address, length)).isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining(Long.toHexString(address));
    }
}
