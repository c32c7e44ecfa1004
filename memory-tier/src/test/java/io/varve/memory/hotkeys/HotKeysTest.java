package io.varve.memory.hotkeys;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.item.Key;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link HotKeys}. Confined to the test's thread. */
class HotKeysTest {
    private static final int DATABASE = 3;
    private static final int SECONDS = 8;

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
    private final HotKeys hotKeys = new HotKeys(nanos::get);
    private final Arena arena = Arena.ofShared();
    private final long memory = arena.allocate(HotKeys.MAX_KEY_BYTES + 1).address();

    @BeforeEach
    void register() {
        LiveRanges.add(memory, HotKeys.MAX_KEY_BYTES + 1L);
    }

    @AfterEach
    void free() {
        LiveRanges.remove(memory);
        arena.close();
    }

    /** Keys with the same hash are in the same set; they differ in length. */
    private void sample(String name, long hash, int database, int times) {
        byte[] bytes = name.getBytes(US_ASCII);
        Memory.copy(bytes, 0, memory, bytes.length);
        Key key = new Key();
        key.bind(memory, bytes.length, hash, 0, database);
        for (int i = 0; i < times; i++) {
            hotKeys.sampled(key, database);
        }
    }

    private void pass(long seconds) {
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    }

    private List<String> names(int database, int count) {
        return hotKeys.hottest(database, count).stream().map(key -> new String(key.key(), US_ASCII)).toList();
    }

    @Test
    void theMostReadKeys_comeFirst_withTheirRates() {
        sample("a", 1, DATABASE, 10);
        sample("b", 2, DATABASE, 30);
        sample("c", 3, DATABASE, 20);
        sample("d", 4, DATABASE + 1, 40);
        pass(SECONDS);
        assertThat(names(DATABASE, 2)).containsExactly("b", "c");
        assertThat(names(DATABASE, 10)).containsExactly("b", "c", "a");
        assertThat(names(DATABASE + 1, 10)).containsExactly("d");
        assertThat(hotKeys.hottest(DATABASE, 1).getFirst().readsPerSecond())
                .isEqualTo(30.0 * HotKeys.PERIOD / SECONDS);
    }

    /** A key that takes an entry over is not credited with the reads of its predecessor. */
    @Test
    void aSet_keepsItsMostReadKeys() {
        for (int i = 0; i < 8; i++) {
            sample("x".repeat(i + 1), 7, DATABASE, 10 + i);
        }
        sample("new key 9", 7, DATABASE, 5);
        assertThat(names(DATABASE, 10)).hasSize(8).doesNotContain("x").endsWith("new key 9");
        sample("new key 9", 7, DATABASE, 20);
        assertThat(names(DATABASE, 1)).containsExactly("new key 9");
    }

    @Test
    void keysThatAreNotReadAnyMore_disappear() {
        sample("a", 1, DATABASE, 100);
        pass(HotKeys.HALVED_AFTER_SECONDS);
        sample("b", 2, DATABASE, 60);
        assertThat(names(DATABASE, 10)).containsExactly("b", "a");
        pass(HotKeys.HALVED_AFTER_SECONDS * 100L);
        assertThat(names(DATABASE, 10)).isEmpty();
        sample("b", 2, DATABASE, 1);
        assertThat(names(DATABASE, 10)).containsExactly("b");
    }

    @Test
    void longKeys_areNotRecorded() {
        sample("x".repeat(HotKeys.MAX_KEY_BYTES + 1), 1, DATABASE, 10);
        assertThat(names(DATABASE, 10)).isEmpty();
        sample("x".repeat(HotKeys.MAX_KEY_BYTES), 1, DATABASE, 10);
        assertThat(names(DATABASE, 10)).hasSize(1);
    }

    @Test
    void probes_sampleOneReadIn64OnAverage() {
        HotKeyProbe probe = hotKeys.newProbe();
        byte[] name = {'k'};
        Memory.copy(name, 0, memory, name.length);
        Key key = new Key();
        key.bind(memory, name.length, 1, 0, DATABASE);
        int reads = 640_000;
        int samples = 0;
        for (int i = 0; i < reads; i++) {
            if (probe.isSampled()) {
                probe.sampled(key, DATABASE);
                samples++;
            }
        }
        assertThat(samples).isBetween(reads / HotKeys.PERIOD * 9 / 10, reads / HotKeys.PERIOD * 11 / 10);
    }
}
