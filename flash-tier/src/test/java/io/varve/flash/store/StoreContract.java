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

/** What every store in real files holds to. Confined to the test's thread, but for one test. */
public abstract class StoreContract {
    private static final int THREADS = 3;

    @TempDir
    protected Path directory;

    protected FlashStore store;

    /** How a store is opened. Immutable. */
    public record Limits(long mostDiskBytes, long freeDiskBytes, long retryMillis) {
        public static final Limits NONE = new Limits(0, 0, 0);
    }

    protected abstract FlashStore open(Path where, Limits limits);

    /** Does to the store what its library does when it cannot go on. */
    protected abstract void giveUp();

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
    void holdsWhatAMapHolds() {
        SplittableRandom random = new SplittableRandom(42);
        TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
        Handover[] handovers = Handover.values();
        for (int i = 0; i < 5000; i++) {
            byte[] key = number(random.nextInt(300));
            Handover handover = i % 50 == 0 ? handovers[random.nextInt(handovers.length)] : Handover.BUFFERED;
            switch (random.nextInt(3)) {
                case 0 -> {
                    byte[] value = new byte[random.nextInt(2000)];
                    random.nextBytes(value);
                    assertThat(store.put(key, value, handover)).isEqualTo(model.put(key, value) == null);
                }
                case 1 -> assertThat(store.delete(key, handover)).isEqualTo(model.remove(key) != null);
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
    void whatIsOverwrittenTakesNoRoomForEver() throws IOException {
        byte[] value = new byte[10_000];
        for (int i = 0; i < 30_000; i++) {
            store.put(number(i % 500), value, Handover.BUFFERED);
        }
        store.handOver(Handover.TO_SYSTEM);
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

    /** Each thread changes all keys; in the end the store agrees with itself. */
    @Test
    void countsAndWalksWhatManyThreadsLeave() throws Exception {
        try (ExecutorService pool = Executors.newFixedThreadPool(THREADS)) {
            List<Callable<Void>> workers = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                SplittableRandom random = new SplittableRandom(t);
                workers.add(() -> {
                    for (int i = 0; i < 3000; i++) {
                        byte[] key = number(random.nextInt(50));
                        if (random.nextBoolean()) {
                            store.put(key, bytes("value"), Handover.BUFFERED);
                        } else {
                            store.delete(key, Handover.BUFFERED);
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
        for (KeyWalk walk = store.walk(); walk.next();) {
            assertThat(store.get(walk.key())).isNotNull();
            walked++;
        }
        assertThat(walked).isEqualTo(there);
        assertThat(store.count()).isEqualTo(there);
    }

    @Test
    void anInterruptedThreadLosesNothing() {
        store.put(bytes("k"), bytes("v"), Handover.TO_SYSTEM);
        Thread.currentThread().interrupt();
        assertThat(store.get(bytes("k"))).isEqualTo(bytes("v"));
        assertThat(store.put(bytes("k2"), bytes("v2"), Handover.TO_DEVICE)).isTrue();
        assertThat(Thread.interrupted()).as("the flag is given back").isTrue();
        assertThat(reopened()).isZero();
    }

    @Test
    void whatTheLibraryGaveUpIsOpenedAnew() {
        store.put(bytes("k"), bytes("v"), Handover.TO_SYSTEM);
        giveUp();
        assertThat(store.get(bytes("k"))).isEqualTo(bytes("v"));
        assertThat(reopened()).isEqualTo(1);
        assertThat(store.put(bytes("k"), bytes("w"), Handover.TO_SYSTEM)).isFalse();
        KeyWalk walk = store.walk();
        giveUp();
        assertThat(walk.next()).isTrue();
        assertThat(walk.key()).isEqualTo(bytes("k"));
        assertThat(store.count()).isEqualTo(1);
        assertThat(reopened()).isEqualTo(2);
    }

    @Test
    void aNoteStandsBesideTheMapAndStays() {
        store.put(bytes("k"), bytes("v"), Handover.BUFFERED);
        assertThat(store.noted("dirty")).isFalse();
        store.note("dirty", true);
        store.note("dirty", true);
        store.note("other", true);
        openWith(Limits.NONE);
        assertThat(store.noted("dirty")).isTrue();
        assertThat(store.count()).isEqualTo(1);
        KeyWalk walk = store.walk();
        assertThat(walk.next()).isTrue();
        assertThat(walk.key()).isEqualTo(bytes("k"));
        assertThat(walk.next()).isFalse();
        store.note("dirty", false);
        assertThat(store.noted("dirty")).isFalse();
        assertThat(store.noted("other")).isTrue();
    }

    /** The directory is away for a while, as one on a device is that was unmounted. */
    @Test
    void aStoreThatCannotBeOpenedAnewFailsUntilItCan() throws IOException {
        store.put(bytes("k"), bytes("v"), Handover.TO_SYSTEM);
        giveUp();
        Files.move(place(), directory.resolve("away"));
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> store.get(bytes("k"))).isInstanceOf(StoreException.class);
        }
        Files.move(directory.resolve("away"), place());
        assertThat(store.get(bytes("k"))).isEqualTo(bytes("v"));
        assertThat(reopened()).isEqualTo(1);
    }

    @Test
    void whatCouldNotBeOpenedIsNotTriedAgainAtEachCall() throws IOException {
        openWith(new Limits(0, 0, 1_000_000));
        giveUp();
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
    void aStoreThatIsFullSaysSoAndGoesOnReading() {
        openWith(new Limits(3 << 20, 0, 0));
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

    @Test
    void aDeviceWithLessThanItLeavesFreeIsFull() {
        openWith(new Limits(0, Long.MAX_VALUE / 4, 0));
        assertThatThrownBy(() -> store.put(number(0), new byte[100], Handover.TO_SYSTEM))
                .isInstanceOfSatisfying(StoreException.class,
                        full -> assertThat(full.kind()).isEqualTo(StoreException.Kind.FULL));
    }
}
