package io.varve.flash.je;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

import com.sleepycat.je.DbInternal;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentFailureException;
import io.varve.flash.store.Handover;
import io.varve.flash.store.KeyWalk;
import io.varve.flash.store.StoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A store in real files. Confined to the test's thread. */
class JeStoreTest {
    private static final JeSettings SETTINGS = JeSettings.of(8 << 20);

    @TempDir
    Path directory;

    private JeStore store;

    @BeforeEach
    void open() {
        store = JeStore.open(directory.resolve("flash"), SETTINGS);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] number(int key) {
        return ByteBuffer.allocate(8).putInt(Integer.reverse(key)).putInt(key).array();
    }

    @Test
    void holdsWhatAMapHolds() {
        SplittableRandom random = new SplittableRandom(42);
        TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
        for (int i = 0; i < 5000; i++) {
            byte[] key = number(random.nextInt(300));
            switch (random.nextInt(3)) {
                case 0 -> {
                    byte[] value = new byte[random.nextInt(2000)];
                    random.nextBytes(value);
                    assertThat(store.put(key, value, Handover.BUFFERED)).isEqualTo(model.put(key, value) == null);
                }
                case 1 -> assertThat(store.delete(key, Handover.BUFFERED)).isEqualTo(model.remove(key) != null);
                default -> assertThat(store.get(key)).isEqualTo(model.get(key));
            }
            assertThat(store.count()).isEqualTo(model.size());
        }
        store.close();
        open();
        assertThat(store.count()).isEqualTo(model.size());
        for (Map.Entry<byte[], byte[]> entry : model.entrySet()) {
            assertThat(store.get(entry.getKey())).isEqualTo(entry.getValue());
        }
    }

    @Test
    void aWalkMeetsEachKeyOnceAndGoesOnWhereItStopped() {
        List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            keys.add(number(i));
            store.put(number(i), bytes("value"), Handover.BUFFERED);
        }
        keys.sort(Arrays::compareUnsigned);
        KeyWalk walk = store.walk();
        for (int round = 0; round < 2; round++) {
            for (byte[] key : keys) {
                assertThat(walk.next()).isTrue();
                assertThat(walk.key()).isEqualTo(key);
            }
            assertThat(walk.next()).as("the end").isFalse();
        }
        walk.seek(keys.get(500));
        assertThat(walk.next()).isTrue();
        assertThat(walk.key()).isEqualTo(keys.get(500));
        for (int i = 501; i < 1000; i += 2) {
            store.delete(keys.get(i), Handover.BUFFERED);
        }
        int met = 0;
        while (walk.next()) {
            met++;
        }
        assertThat(met).as("those that were there all the time, and at the most what was read ahead").isBetween(249,
                249 + 16);
    }

    @Test
    void anInterruptedThreadLosesNothing() {
        store.put(bytes("k"), bytes("v"), Handover.TO_SYSTEM);
        Thread.currentThread().interrupt();
        assertThat(store.get(bytes("k"))).isEqualTo(bytes("v"));
        assertThat(store.put(bytes("k2"), bytes("v2"), Handover.TO_DEVICE)).isTrue();
        assertThat(Thread.interrupted()).as("the flag is given back").isTrue();
        assertThat(store.reopened()).isZero();
    }

    /** As JE does itself when it cannot go on. */
    private void giveUp() {
        Environment environment = store.environment();
        EnvironmentFailureException.unexpectedState(DbInternal.getNonNullEnvImpl(environment), "for the test");
        assertThat(environment.isValid()).isFalse();
    }

    @Test
    void anEnvironmentThatWasGivenUpIsOpenedAnew() {
        store.put(bytes("k"), bytes("v"), Handover.TO_SYSTEM);
        giveUp();
        assertThat(store.get(bytes("k"))).isEqualTo(bytes("v"));
        assertThat(store.reopened()).isEqualTo(1);
        assertThat(store.put(bytes("k"), bytes("w"), Handover.TO_SYSTEM)).isFalse();
        KeyWalk walk = store.walk();
        giveUp();
        assertThat(walk.next()).isTrue();
        assertThat(walk.key()).isEqualTo(bytes("k"));
        assertThat(store.count()).isEqualTo(1);
        assertThat(store.reopened()).isEqualTo(2);
    }

    @Test
    void aDirectoryThatIsInUseIsRefused() {
        assertThatThrownBy(() -> JeStore.open(directory.resolve("flash"), SETTINGS)).isInstanceOfSatisfying(
                StoreException.class,
                refused -> assertThat(refused.kind()).isEqualTo(StoreException.Kind.LOCKED));
    }

    @Test
    void aStoreThatIsFullSaysSoAndGoesOnReading() {
        store.close();
        store = JeStore.open(directory.resolve("small"), new JeSettings(8 << 20, 3 << 20, 0, 10_000));
        byte[] value = new byte[100_000];
        int stored = 0;
        try {
            for (; stored < 10_000; stored++) {
                store.put(number(stored), value, Handover.TO_SYSTEM);
            }
        } catch (StoreException full) {
            assertThat(full.kind()).isEqualTo(StoreException.Kind.FULL);
        }
        assertThat(stored).isBetween(1, 9999);
        assertThat(store.get(number(0))).isEqualTo(value);
        assertThat(store.count()).isEqualTo(stored);
    }
}
