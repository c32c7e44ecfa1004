package io.varve.server.persistence;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests what INFO reports about snapshots. Confined to the test's thread. */
class SnapshotStatusTest {
    private static final long START = 1_000;

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
    private final SnapshotStatus status = new SnapshotStatus(START, nanos::get);

    private void pass(long seconds) {
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    }

    @Test
    void beforeTheFirstSave_theStartCounts() {
        assertThat(status.isSaving()).isFalse();
        assertThat(status.hasSaved()).isFalse();
        assertThat(status.hasFailed()).isFalse();
        assertThat(status.lastSaveSeconds()).isEqualTo(START);
        assertThat(status.lastAttemptSeconds()).isZero();
        assertThat(status.lastSeconds()).isEqualTo(SnapshotStatus.NONE);
        assertThat(status.currentSeconds()).isEqualTo(SnapshotStatus.NONE);
        assertThat(status.changesSinceSave(7)).isEqualTo(7);
    }

    /** The clock of durations overflows meanwhile. */
    @Test
    void runningSave_showsItsProgress() {
        status.begun(10);
        status.expects(200);
        status.progress(50);
        pass(3);
        assertThat(status.isSaving()).isTrue();
        assertThat(status.currentSeconds()).isEqualTo(3);
        assertThat(status.totalKeys()).isEqualTo(200);
        assertThat(status.keys()).isEqualTo(50);
        assertThat(status.changesSinceSave(12)).as("while it runs").isEqualTo(12);
    }

    @Test
    void savedChanges_areThoseThatTheLastAttemptCovers() {
        status.begun(10);
        status.covers(15);
        pass(4);
        status.succeeded(START + 4);
        assertThat(status.isSaving()).as("the saver is still busy").isTrue();
        status.ended();
        assertThat(status.isSaving()).isFalse();
        assertThat(status.hasSaved()).isTrue();
        assertThat(status.saves()).isOne();
        assertThat(status.lastSaveSeconds()).isEqualTo(START + 4);
        assertThat(status.lastAttemptSeconds()).isEqualTo(START + 4);
        assertThat(status.lastSeconds()).isEqualTo(4);
        assertThat(status.currentSeconds()).isEqualTo(SnapshotStatus.NONE);
        assertThat(status.changesSinceSave(20)).isEqualTo(5);
        assertThat(status.keys()).isZero();
        assertThat(status.totalKeys()).isZero();
    }

    @Test
    void failedSave_countsAsAttemptOnly() {
        status.begun(10);
        status.succeeded(START + 1);
        status.begun(30);
        pass(2);
        status.failed(START + 9);
        assertThat(status.hasFailed()).isTrue();
        assertThat(status.isSaving()).as("the saver is still busy").isTrue();
        status.ended();
        assertThat(status.isSaving()).isFalse();
        assertThat(status.saves()).isOne();
        assertThat(status.lastSaveSeconds()).isEqualTo(START + 1);
        assertThat(status.lastAttemptSeconds()).isEqualTo(START + 9);
        assertThat(status.lastSeconds()).isEqualTo(2);
        assertThat(status.changesSinceSave(30)).isEqualTo(20);
        status.begun(31);
        status.succeeded(START + 10);
        assertThat(status.hasFailed()).isFalse();
        assertThat(status.changesSinceSave(31)).isZero();
    }

    @Test
    void loadedKeys_stayWhenASaveEnds() {
        status.loaded(5, 2);
        status.begun(0);
        status.succeeded(START);
        assertThat(status.loadedKeys()).isEqualTo(5);
        assertThat(status.expiredKeys()).isEqualTo(2);
    }
}
