package io.varve.ycsb.near;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.ycsb.record.RecordCoding;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests what a near cache keeps, on a clock that the test moves. Confined to the test's thread. */
class NearCacheTest {
    private static final byte[] KEY = bytes("user1");
    private static final Map<String, byte[]> RECORD = Map.of("field0", bytes("a"));

    private final NearCacheRun run = new NearCacheRun();
    private long nowNanos = Long.MAX_VALUE - TimeUnit.MINUTES.toNanos(1);
    private NearCache cache = new NearCache(100, () -> nowNanos, run);

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @BeforeEach
    void track() {
        cache.confirmTracking(cache.begin(bytes("")));
        assertThat(cache.isTracked()).isTrue();
    }

    private void load(byte[] key, @Nullable Map<String, byte[]> fields, long ttlMillis) {
        cache.finish(cache.begin(key), fields, ttlMillis);
    }

    private void passMillis(long millis) {
        nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
    }

    @Test
    void loadedRecordIsFoundUntilItIsInvalidated() {
        assertThat(cache.find(KEY)).isNull();
        load(KEY, RECORD, RecordCoding.NO_TTL);
        cache.invalidated(bytes("user2"));
        assertThat(cache.find(bytes("user1"))).isEqualTo(RECORD);
        cache.invalidated(bytes("user1"));
        assertThat(cache.find(KEY)).isNull();
    }

    @Test
    void invalidationDuringALoadKeepsTheRecordOut() {
        NearCache.Load load = cache.begin(KEY);
        cache.invalidated(bytes("user1"));
        cache.finish(load, RECORD, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).isNull();
        load(KEY, RECORD, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).isNotNull();
    }

    @Test
    void invalidationOfAnotherKeyDuringALoadDoesNotMatter() {
        NearCache.Load load = cache.begin(KEY);
        cache.invalidated(bytes("user2"));
        cache.finish(load, RECORD, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).isNotNull();
    }

    @Test
    void invalidationOfAllKeysRemovesAllAndKeepsALoadOut() {
        load(bytes("user2"), RECORD, RecordCoding.NO_TTL);
        NearCache.Load load = cache.begin(KEY);
        cache.allInvalidated();
        cache.finish(load, RECORD, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).isNull();
        assertThat(cache.find(bytes("user2"))).isNull();
        assertThat(cache.isTracked()).isTrue();
    }

    @Test
    void lostConnectionRemovesAllUntilTrackingBeginsAgain() {
        load(bytes("user2"), RECORD, RecordCoding.NO_TTL);
        NearCache.Load load = cache.begin(KEY);
        cache.disconnected();
        cache.finish(load, RECORD, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).isNull();
        assertThat(cache.find(bytes("user2"))).isNull();
        load(KEY, RECORD, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).as("untracked").isNull();
        track();
        load(KEY, RECORD, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).isNotNull();
    }

    @Test
    void trackingOfALostConnectionIsNotConfirmed() {
        cache.disconnected();
        NearCache.Load load = cache.begin(KEY);
        cache.disconnected();
        cache.confirmTracking(load);
        assertThat(cache.isTracked()).isFalse();
    }

    @Test
    void lifeIsTheTtlSinceTheRequest() {
        NearCache.Load load = cache.begin(KEY);
        passMillis(40);
        cache.finish(load, RECORD, 100);
        passMillis(59);
        assertThat(cache.find(KEY)).isNotNull();
        passMillis(1);
        assertThat(cache.find(KEY)).isNull();
    }

    @Test
    void replyThatTookTheWholeTtlIsNotKept() {
        NearCache.Load load = cache.begin(KEY);
        passMillis(100);
        cache.finish(load, RECORD, 100);
        assertThat(cache.find(KEY)).isNull();
        load(KEY, RECORD, 0);
        assertThat(cache.find(KEY)).isNull();
        load(KEY, RECORD, -2);
        assertThat(cache.find(KEY)).isNull();
    }

    @Test
    void lifeBeyondTheClocksRangeIsLong() {
        load(KEY, RECORD, Long.MAX_VALUE);
        passMillis(900);
        assertThat(cache.find(KEY)).isNotNull();
    }

    /** The clock passes the greatest number meanwhile. */
    @Test
    void withoutARecentReplyTheServerIsAsked() {
        for (int i = 0; i < 100; i++) {
            load(KEY, RECORD, RecordCoding.NO_TTL);
            nowNanos += NearCache.MAX_SILENCE_NANOS;
            assertThat(cache.find(KEY)).isNotNull();
            nowNanos++;
            assertThat(cache.find(KEY)).isNull();
        }
        load(bytes("user2"), null, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).isNotNull();
    }

    @Test
    void absentOrRemovedRecordIsNotKept() {
        load(KEY, RECORD, RecordCoding.NO_TTL);
        load(KEY, null, RecordCoding.NO_TTL);
        assertThat(cache.find(KEY)).isNull();
        load(KEY, RECORD, RecordCoding.NO_TTL);
        cache.remove(bytes("user1"));
        assertThat(cache.find(KEY)).isNull();
    }

    @Test
    void numberOfRecordsIsBounded() {
        cache = new NearCache(10, () -> nowNanos, run);
        track();
        int found = 0;
        for (int i = 0; i < 1000; i++) {
            load(bytes("user" + i), RECORD, RecordCoding.NO_TTL);
        }
        for (int i = 0; i < 1000; i++) {
            found += cache.find(bytes("user" + i)) == null ? 0 : 1;
        }
        assertThat(found).isBetween(1, 10);
    }

    @Test
    void lastClientPrintsTheCountersOfARunOnce() {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream to = new PrintStream(printed, true, StandardCharsets.UTF_8);
        run.join();
        run.leave(to);
        assertThat(printed.size()).as("no near cache").isZero();
        run.join();
        run.join();
        run.use();
        run.missed();
        for (int i = 0; i < 3; i++) {
            run.hit();
        }
        run.invalidated();
        run.overtaken();
        run.leave(to);
        assertThat(printed.size()).isZero();
        run.leave(to);
        assertThat(printed.toString(StandardCharsets.UTF_8).lines()).containsExactly("[NEAR-CACHE], Hits, 3",
                "[NEAR-CACHE], Misses, 1", "[NEAR-CACHE], HitRatio, 0.75000", "[NEAR-CACHE], Invalidations, 1",
                "[NEAR-CACHE], LoadsOvertaken, 1");
    }
}
