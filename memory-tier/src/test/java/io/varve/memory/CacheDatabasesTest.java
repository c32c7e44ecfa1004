package io.varve.memory;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.report.Epochs;
import io.varve.memory.shard.ShardSet;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.memory.testing.CacheFixture.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests sizes, flushes, swaps and epochs of databases. Confined to the test's thread. */
class CacheDatabasesTest {
    private static final int SHARDS = 4;
    private static final int DATABASES = 16;
    /** As many flushes find a fresh physical database without reclaiming another one. */
    private static final int SPARE_DATABASES = 16;

    private final ManualTicker ticker = new ManualTicker();
    private final CacheFixture fixture = new CacheFixture(Cache.open(CacheConfig.defaults(8 << 20).withShards(SHARDS)
            .withSegmentSizeBytes(4096).withDatabases(DATABASES).withTicker(ticker)));
    private final Cache cache = fixture.cache;

    @AfterEach
    void close() {
        assertThat(cache.checkIntegrity()).isEmpty();
        fixture.close();
    }

    private void fill(int database, int items) {
        for (int i = 0; i < items; i++) {
            fixture.set(database, bytes("key " + i), bytes("of " + database), Item.NEVER);
        }
    }

    private long epoch(int database) {
        return cache.epochs().ofDatabases().get(database);
    }

    private boolean holdsAllShards() {
        for (int i = 0; i < SHARDS; i++) {
            if (!fixture.session.isLocked(i)) {
                return false;
            }
        }
        return true;
    }

    // --- sizes

    @Test
    void size_countsTheItemsOfOneDatabase_expiredOnesIncluded() {
        fill(3, 50);
        fixture.set(3, bytes("expires"), bytes("v"), ticker.wallMillis() + 1000);
        fixture.set(4, bytes("other"), bytes("v"), Item.NEVER);
        ticker.advanceMillis(2000);
        assertThat(cache.size(3)).isEqualTo(51);
        assertThat(cache.expiringSize(3)).isEqualTo(1);
        assertThat(cache.size(4)).isEqualTo(1);
        assertThat(cache.expiringSize(4)).isZero();
        assertThat(cache.size(5)).isZero();
    }

    @Test
    void expectedKeys_haveTheirIndexAtOnce_untilNoMoreAreExpected() {
        // so many that every shard has an index
        fill(3, 200);
        long before = cache.stats().indexBytes();
        cache.expectKeys(3, 1, 10_000_000);
        assertThat(cache.stats().indexBytes()).as("more than a quarter of the memory").isEqualTo(before);
        for (int shard = 0; shard < SHARDS; shard++) {
            cache.expectKeys(3, shard, 2_500);
        }
        long expected = cache.stats().indexBytes();
        assertThat(expected).isGreaterThan(SHARDS * 2_500 * 9);
        settle();
        assertThat(cache.stats().indexBytes()).as("while keys are expected").isEqualTo(expected);
        // so few that no table has an overflow, whatever the hashes
        fill(3, 4_400);
        assertThat(cache.stats().indexBytes()).as("with the keys").isEqualTo(expected);
        cache.expectKeys(5, 2, 10_000);
        cache.expectNoKeys();
        settle();
        assertThat(cache.stats().indexBytes()).as("without the keys that have not come").isEqualTo(expected + 4096);
    }

    /** Runs maintenance until there is nothing more to do. */
    private void settle() {
        while (cache.maintain() == 0) {
            assertThat(cache.stats().indexBytes()).isPositive();
        }
    }

    @Test
    void sizeOfBothTiers_asksForTheDatabasesEpochUnderAllLocks() {
        fill(3, 50);
        List<Long> asked = new ArrayList<>();
        assertThat(cache.size(3, epoch -> {
            asked.add(epoch);
            assertThat(holdsAllShards()).isTrue();
            return 7;
        })).isEqualTo(57);
        assertThat(asked).containsExactly(epoch(3));
        assertThat(holdsAllShards()).isFalse();
    }

    // --- flushes

    @Test
    void flush_emptiesOneDatabaseAndBeginsItsNextEpoch() {
        fill(0, 50);
        fill(1, 50);
        Epochs before = cache.epochs();
        cache.flush(1);
        assertThat(cache.size(0)).isEqualTo(50);
        assertThat(cache.size(1)).isZero();
        assertThat(epoch(0)).isEqualTo(before.ofDatabases().getFirst());
        assertThat(epoch(1)).isEqualTo(before.next());
        assertThat(cache.epochs().next()).isEqualTo(before.next() + 1);
        assertThat(fixture.get(1, bytes("key 0"))).isNull();
    }

    @Test
    void flush_ofAnEmptyDatabase_beginsANewEpoch() {
        long next = cache.epochs().next();
        cache.flush(2);
        assertThat(epoch(2)).isEqualTo(next);
    }

    @Test
    void flush_underALock_isRefusedOnceNoPhysicalDatabaseIsFree() {
        for (int i = 0; i < SPARE_DATABASES; i++) {
            fill(0, 1);
            cache.flush(0);
        }
        fill(0, 1);
        ShardSet held = new ShardSet(SHARDS);
        held.add(0);
        fixture.session.lock(held);
        try {
            assertThatThrownBy(() -> cache.flush(0)).isInstanceOf(CacheFullException.class);
        } finally {
            fixture.session.unlock(held);
        }
        assertThat(cache.size(0)).isEqualTo(1);
        cache.flush(0);
        assertThat(cache.size(0)).isZero();
    }

    @Test
    void prepareFlushes_letsAsManyFlushesSucceedUnderALock() {
        for (int i = 0; i < SPARE_DATABASES; i++) {
            fill(0, 1);
            cache.flush(0);
        }
        fill(0, 1);
        fill(1, 1);
        cache.prepareFlushes(2);
        ShardSet held = new ShardSet(SHARDS);
        held.add(0);
        fixture.session.lock(held);
        try {
            cache.flush(0);
            cache.flush(1);
        } finally {
            fixture.session.unlock(held);
        }
        assertThat(cache.size(0) + cache.size(1)).isZero();
    }

    @Test
    void flushAll_emptiesAllDatabasesAndBeginsTheirEpochsInOrder() {
        fill(0, 50);
        fill(DATABASES - 1, 50);
        long next = cache.epochs().next();
        cache.flushAll();
        for (int i = 0; i < DATABASES; i++) {
            assertThat(cache.size(i)).isZero();
            assertThat(epoch(i)).isEqualTo(next + i);
        }
    }

    // --- swaps

    @Test
    void swap_exchangesItemsAndEpochs() {
        fill(0, 3);
        fill(1, 5);
        long first = epoch(0);
        long second = epoch(1);
        cache.swap(0, 1);
        assertThat(cache.size(0)).isEqualTo(5);
        assertThat(cache.size(1)).isEqualTo(3);
        assertThat(fixture.get(0, bytes("key 0"))).isEqualTo(bytes("of 1"));
        assertThat(epoch(0)).isEqualTo(second);
        assertThat(epoch(1)).isEqualTo(first);
    }

    @Test
    void swap_withItself_changesNothing() {
        fill(1, 5);
        Epochs before = cache.epochs();
        cache.swap(1, 1);
        assertThat(cache.size(1)).isEqualTo(5);
        assertThat(cache.epochs()).isEqualTo(before);
    }

    /** The listener's key is copied to native memory, in a region of a power of two. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4095, 4096, 4097, 10_000})
    void swap_tellsListenersWhichKeysExistAfterwards(int length) {
        byte[] name = new byte[length];
        byte[] expired = bytes("expired");
        fixture.set(1, name, bytes("v"), Item.NEVER);
        fixture.set(1, expired, bytes("v"), ticker.wallMillis() + 1000);
        ticker.advanceMillis(2000);
        List<Boolean> found = new ArrayList<>();
        cache.subscribe(new ChangeListener() {
            @Override
            public void changed(Change change, int shard, long sequence, int database, long keyAddress,
                    int keyLength) {}

            @Override
            public void swapped(int first, int second, Presence presence) {
                found.addAll(List.of(presence.exists(first, name), presence.exists(second, name),
                        presence.exists(first, expired)));
            }
        });
        cache.swap(0, 1);
        assertThat(found).containsExactly(true, false, false);
    }

    // --- epochs

    @Test
    void resume_continuesWithEarlierEpochs() {
        List<Long> epochs = new ArrayList<>();
        for (long i = 0; i < DATABASES; i++) {
            epochs.add(100 + i);
        }
        cache.resume(new Epochs(epochs, 1000));
        assertThat(cache.epochs()).isEqualTo(new Epochs(epochs, 1000));
        cache.flush(5);
        assertThat(epoch(5)).isEqualTo(1000);
        assertThat(epoch(6)).isEqualTo(106);
    }

    @Test
    void resume_ofAnotherNumberOfDatabases_isRefused() {
        Epochs before = cache.epochs();
        assertThatThrownBy(() -> cache.resume(new Epochs(List.of(1L, 2L), 3)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("2").hasMessageContaining("16");
        assertThat(cache.epochs()).isEqualTo(before);
    }

    @Test
    void renewEpochs_keepsTheItems_andRunsTheActionUnderAllLocks() {
        fill(0, 5);
        long next = cache.epochs().next();
        List<Boolean> locked = new ArrayList<>();
        cache.renewEpochs(() -> locked.add(holdsAllShards()));
        assertThat(locked).containsExactly(true);
        assertThat(cache.size(0)).isEqualTo(5);
        for (int i = 0; i < DATABASES; i++) {
            assertThat(epoch(i)).isEqualTo(next + i);
        }
    }
}
