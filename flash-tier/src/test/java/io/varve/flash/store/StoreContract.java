package io.varve.flash.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The contract of every store in real files. Confined to the test's thread, except in one test. */
public abstract class StoreContract {
    private static final int THREADS = 3;

    @TempDir
    protected Path directory;

    protected FlashStore store;

    /** How a store is opened. Immutable. */
    public record Limits(long maxDiskBytes, long freeDiskBytes, long retryMillis) {
        public static final Limits NONE = new Limits(0, 0, 0);
    }

    protected abstract FlashStore open(Path where, Limits limits);

    /** Breaks the store's files as its library does when it cannot continue. */
    protected abstract void breakFiles();

    protected abstract long reopened();

    private Path place() {
        return directory.resolve("flash");
    }

    @BeforeEach
    void open() {
        store = open(place(), Limits.NONE);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void openWith(Limits limits) {
        store.close();
        store = open(place(), limits);
    }

    protected static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    protected static byte[] number(int key) {
        return ByteBuffer.allocate(8).putInt(Integer.reverse(key)).putInt(key).array();
    }

    @Test
    void behavesLikeAMap() {
        SplittableRandom random = new SplittableRandom(42);
        TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
        DurabilityLevel[] durabilities = DurabilityLevel.values();
        for (int i = 0; i < 5000; i++) {
            byte[] key = number(random.nextInt(300));
            DurabilityLevel durability = i % 50 == 0
                    ? durabilities[random.nextInt(durabilities.length)]
                    : DurabilityLevel.BUFFERED;
            switch (random.nextInt(3)) {
                case 0 -> {
                    byte[] value = new byte[random.nextInt(2000)];
                    random.nextBytes(value);
                    assertThat(store.put(key, value, durability)).isEqualTo(model.put(key, value) == null);
                }
                case 1 -> assertThat(store.delete(key, durability)).isEqualTo(model.remove(key) != null);
                default -> assertThat(store.get(key)).isEqualTo(model.get(key));
            }
            assertThat(store.count()).isEqualTo(model.size());
        }
        openWith(Limits.NONE);
        assertThat(store.count()).isEqualTo(model.size());
        for (Map.Entry<byte[], byte[]> entry : model.entrySet()) {
            assertThat(store.get(entry.getKey())).isEqualTo(entry.getValue());
        }
    }

    /** The file does not grow with what was overwritten. */
    @Test
    void spaceOfOverwrittenRecordsIsReclaimed() throws IOException {
        byte[] value = new byte[10_000];
        for (int i = 0; i < 30_000; i++) {
            store.put(number(i % 500), value, DurabilityLevel.BUFFERED);
        }
        store.makeDurable(DurabilityLevel.TO_SYSTEM);
        long live = 500L * value.length;
        long written = 30_000L * value.length;
        assertThat(bytesOfFiles()).as("of %s live and %s written", live, written).isLessThan(written / 2);
    }

    /** A file that goes meanwhile, as a store removes what it has emptied at any time, takes nothing. */
    private long bytesOfFiles() throws IOException {
        AtomicLong bytes = new AtomicLong();
        Files.walkFileTree(place(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                bytes.addAndGet(attributes.size());
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException fault) throws IOException {
                if (fault instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw fault;
            }
        });
        return bytes.get();
    }

    @Test
    void walkVisitsEachKeyOnceAndContinuesWhereItStopped() {
        List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            keys.add(number(i));
            store.put(number(i), bytes("value"), DurabilityLevel.BUFFERED);
        }
        keys.sort(Arrays::compareUnsigned);
        KeyCursor cursor = store.walk();
        for (int round = 0; round < 2; round++) {
            for (byte[] key : keys) {
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.key()).isEqualTo(key);
            }
            assertThat(cursor.next()).as("the end").isFalse();
        }
        cursor.seek(keys.get(500));
        assertThat(cursor.next()).isTrue();
        assertThat(cursor.key()).isEqualTo(keys.get(500));
        for (int i = 501; i < 1000; i += 2) {
            store.delete(keys.get(i), DurabilityLevel.BUFFERED);
        }
        int met = 0;
        while (cursor.next()) {
            met++;
        }
        assertThat(met).as("those that were there all the time, and at the most what was read ahead").isBetween(249,
                249 + 16);
    }

    /** Each thread changes all keys; in the end the store agrees with itself. */
    @Test
    void countsAndWalksKeysOfManyThreads() throws Exception {
        try (ExecutorService pool = Executors.newFixedThreadPool(THREADS)) {
            List<Callable<Void>> workers = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                SplittableRandom random = new SplittableRandom(t);
                workers.add(() -> {
                    for (int i = 0; i < 3000; i++) {
                        byte[] key = number(random.nextInt(50));
                        if (random.nextBoolean()) {
                            store.put(key, bytes("value"), DurabilityLevel.BUFFERED);
                        } else {
                            store.delete(key, DurabilityLevel.BUFFERED);
                        }
                    }
                    return null;
                });
            }
            for (Future<Void> done : pool.invokeAll(workers)) {
                done.get();
            }
        }
        int there = 0;
        for (int i = 0; i < 50; i++) {
            there += store.get(number(i)) == null ? 0 : 1;
        }
        int walked = 0;
        for (KeyCursor cursor = store.walk(); cursor.next();) {
            assertThat(store.get(cursor.key())).isNotNull();
            walked++;
        }
        assertThat(walked).isEqualTo(there);
        assertThat(store.count()).isEqualTo(there);
    }

    @Test
    void anInterruptedThreadLosesNothing() {
        store.put(bytes("k"), bytes("v"), DurabilityLevel.TO_SYSTEM);
        Thread.currentThread().interrupt();
        assertThat(store.get(bytes("k"))).isEqualTo(bytes("v"));
        assertThat(store.put(bytes("k2"), bytes("v2"), DurabilityLevel.TO_DEVICE)).isTrue();
        assertThat(Thread.interrupted()).as("the flag is given back").isTrue();
        assertThat(reopened()).isZero();
    }

    @Test
    void filesClosedByLibraryAreReopened() {
        store.put(bytes("k"), bytes("v"), DurabilityLevel.TO_SYSTEM);
        breakFiles();
        assertThat(store.get(bytes("k"))).isEqualTo(bytes("v"));
        assertThat(reopened()).isEqualTo(1);
        assertThat(store.put(bytes("k"), bytes("w"), DurabilityLevel.TO_SYSTEM)).isFalse();
        KeyCursor cursor = store.walk();
        breakFiles();
        assertThat(cursor.next()).isTrue();
        assertThat(cursor.key()).isEqualTo(bytes("k"));
        assertThat(store.count()).isEqualTo(1);
        assertThat(reopened()).isEqualTo(2);
    }

    @Test
    void aNoteStandsBesideTheMapAndStays() {
        store.put(bytes("k"), bytes("v"), DurabilityLevel.BUFFERED);
        assertThat(store.hasNote("dirty")).isFalse();
        store.setNote("dirty", true);
        store.setNote("dirty", true);
        store.setNote("other", true);
        openWith(Limits.NONE);
        assertThat(store.hasNote("dirty")).isTrue();
        assertThat(store.count()).isEqualTo(1);
        KeyCursor cursor = store.walk();
        assertThat(cursor.next()).isTrue();
        assertThat(cursor.key()).isEqualTo(bytes("k"));
        assertThat(cursor.next()).isFalse();
        store.setNote("dirty", false);
        assertThat(store.hasNote("dirty")).isFalse();
        assertThat(store.hasNote("other")).isTrue();
    }

    /** The directory is away for a while, as one on a device is that was unmounted. */
    @Test
    void aStoreThatCannotBeReopenedFailsUntilItCan() throws IOException {
        store.put(bytes("k"), bytes("v"), DurabilityLevel.TO_SYSTEM);
        breakFiles();
        Files.move(place(), directory.resolve("away"));
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> store.get(bytes("k"))).isInstanceOf(StoreException.class);
        }
        Files.move(directory.resolve("away"), place());
        assertThat(store.get(bytes("k"))).isEqualTo(bytes("v"));
        assertThat(reopened()).isEqualTo(1);
    }

    @Test
    void failedOpenIsNotRetriedAtEachCall() throws IOException {
        openWith(new Limits(0, 0, 1_000_000));
        breakFiles();
        Files.move(place(), directory.resolve("away"));
        assertThatThrownBy(() -> store.get(bytes("k"))).isInstanceOf(StoreException.class);
        Files.move(directory.resolve("away"), place());
        assertThatThrownBy(() -> store.get(bytes("k"))).isInstanceOfSatisfying(StoreException.class,
                refused -> assertThat(refused.kind()).isEqualTo(StoreException.Kind.BROKEN));
        assertThat(reopened()).isZero();
    }

    @Test
    void aStoreThatIsClosedStaysClosed() {
        store.close();
        assertThatThrownBy(() -> store.get(bytes("k"))).isInstanceOf(StoreException.class);
        store.close();
        assertThat(reopened()).isZero();
    }

    @Test
    void aDirectoryThatIsInUseIsRefused() {
        assertThatThrownBy(() -> open(place(), Limits.NONE)).isInstanceOfSatisfying(StoreException.class,
                refused -> assertThat(refused.kind()).isEqualTo(StoreException.Kind.LOCKED));
    }

    @Test
    void fullStoreReportsItAndStillReads() {
        openWith(new Limits(3 << 20, 0, 0));
        byte[] value = new byte[100_000];
        int stored = 0;
        try {
            for (; stored < 10_000; stored++) {
                store.put(number(stored), value, DurabilityLevel.TO_SYSTEM);
            }
        } catch (StoreException full) {
            assertThat(full.kind()).isEqualTo(StoreException.Kind.FULL);
        }
        assertThat(stored).isBetween(1, 9999);
        assertThat(store.get(number(0))).isEqualTo(value);
        assertThat(store.count()).isEqualTo(stored);
    }

    /** A library may check the free space of the device only now and then, so a few writes may succeed first. */
    @Test
    void aDeviceWithLessThanItLeavesFreeIsFull() {
        openWith(new Limits(0, Long.MAX_VALUE / 4, 0));
        assertThatThrownBy(() -> {
            for (int i = 0; i < 10_000; i++) {
                store.put(number(i), new byte[100], DurabilityLevel.TO_SYSTEM);
            }
        }).isInstanceOfSatisfying(StoreException.class,
                full -> assertThat(full.kind()).isEqualTo(StoreException.Kind.FULL));
    }
}
