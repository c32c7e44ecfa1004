package io.varve.flash.mvstore;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import io.varve.flash.store.Reopening;
import io.varve.flash.store.StoreException;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.MVStoreException;
import org.h2.mvstore.type.ByteArrayDataType;
import org.jspecify.annotations.Nullable;

/**
 * A store in a file of H2's MVStore. Many threads; changes of keys with one lock are serialized.
 *
 * <p>Keys are in their own map, beside the map of values: the library's pages hold keys and values together, and a key
 * cursor must not read values. If the process is killed between the two writes, a value without a key remains. It
 * counts as absent, and the next value of its key replaces it.
 *
 * <p>The library's background thread writes at times of its own choice, and a commit may then return before all data
 * is written. So the thread is off, and this class does its work: it commits when much is buffered, and periodically
 * rewrites parts of the file with little live data.
 */
public final class MvStore implements FlashStore {
    private static final String FILE = "varve.mv";
    private static final int LOCKS = 256;
    private static final int MIB = 1 << 20;
    /** Approximate maximum of buffered bytes. */
    private static final long MAX_BUFFERED_BYTES = 4 * MIB;
    /** The file is compacted each time callers have written this many bytes. */
    private static final long TENDED_EVERY_BYTES = 16 * MIB;
    /** Parts of the file are rewritten if its live share is below this. */
    private static final int MIN_FILL_PERCENT = 50;
    private static final int TENDED_AT_ONCE_BYTES = 8 * MIB;
    private static final int TENDED_AT_ONCE_MILLIS = 20;
    /** Number of writes between two checks of the device's free space. */
    private static final int CHECK_INTERVAL = 64;
    private static final byte[] NO_VALUE = {};
    private static final long TENDED_WHERE_FULL_NANOS = 100_000_000;
    private static final System.Logger LOG = System.getLogger(MvStore.class.getName());

    private final Path directory;
    private final Path file;
    private final MvSettings settings;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    private final Reopening<Opened> files;
    private volatile boolean openedOnce;
    private final AtomicLong bufferedBytes = new AtomicLong();
    private final AtomicLong untendedBytes = new AtomicLong();
    private final AtomicInteger untilCheck = new AtomicInteger();
    private final AtomicLong tendedWhereFullNanos = new AtomicLong(System.nanoTime() - TENDED_WHERE_FULL_NANOS);

    /** The open store and its maps, replaced together. Immutable. */
    record Opened(MVStore store, MVMap<byte[], byte[]> keys, MVMap<byte[], byte[]> values,
            MVMap<byte[], byte[]> notes) {}

    private MvStore(Path directory, MvSettings settings) {
        this.settings = settings;
        this.directory = directory;
        file = directory.resolve(FILE);
        Arrays.setAll(locks, _ -> new ReentrantLock());
        files = new Reopening<>("The store in " + file,
                new Reopening.Handling<>(this::openFile, MvStore::isUsable,
                        opened -> opened.store.closeImmediately()),
                settings.retryMillis(), System::nanoTime);
    }

    /**
     * Opens the file in the directory, which is created if necessary.
     *
     * @throws StoreException if another process has it open, or it cannot be read
     */
    public static MvStore open(Path directory, MvSettings settings) {
        try {
            return new MvStore(Files.createDirectories(directory).toRealPath(), settings);
        } catch (IOException refused) {
            throw new UncheckedIOException("The directory " + directory + " cannot be created", refused);
        }
    }

    private Opened openFile() {
        if (openedOnce && !Files.exists(file)) {
            // The library would create an empty file on a device that was unmounted.
            throw new StoreException(StoreException.Kind.FAILED, file + " no longer exists", null);
        }
        int cacheMegabytes = Math.max(1, (int) Math.ceilDiv(settings.cacheBytes(), MIB));
        MVStore store = null;
        try {
            store = new MVStore.Builder().fileName(file.toString()).cacheSize(cacheMegabytes).autoCommitDisabled()
                    .autoCommitBufferSize(0).open();
            store.setRetentionTime(settings.retentionMillis());
            store.setVersionsToKeep(0);
            Opened opened = new Opened(store, map(store, "keys"), map(store, "values"), map(store, "notes"));
            openedOnce = true;
            return opened;
        } catch (MVStoreException failed) {
            if (store != null) {
                // Otherwise its file stays locked.
                store.closeImmediately();
            }
            throw translated("open", failed);
        }
    }

    /** An interrupted reader closes the file for all threads, and the library does not notice. */
    private static boolean isUsable(Opened opened, RuntimeException failed) {
        return !opened.store.isClosed()
                && !(failed instanceof MVStoreException library
                        && library.getErrorCode() == DataUtils.ERROR_READING_FAILED);
    }

    private static MVMap<byte[], byte[]> map(MVStore store, String name) {
        return store.openMap(name, new MVMap.Builder<byte[], byte[]>().keyType(ByteArrayDataType.INSTANCE)
                .valueType(ByteArrayDataType.INSTANCE));
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        // A value without a key was deleted, and a kill occurred before it was removed.
        return call("get", opened -> opened.keys.containsKey(key) ? opened.values.get(key) : null);
    }

    @Override
    public boolean put(byte[] key, byte[] value, DurabilityLevel durability) {
        refuseIfFull();
        return change("put", key, durability, opened -> {
            opened.values.put(key, value);
            return opened.keys.putIfAbsent(key, NO_VALUE) == null;
        }, key.length + (long) value.length);
    }

    @Override
    public boolean delete(byte[] key, DurabilityLevel durability) {
        return change("delete", key, durability, opened -> {
            boolean was = opened.keys.remove(key) != null;
            opened.values.remove(key);
            return was;
        }, key.length);
    }

    private boolean change(String what, byte[] key, DurabilityLevel durability, Function<Opened, Boolean> change,
            long bytes) {
        ReentrantLock lock = locks[Math.floorMod(Arrays.hashCode(key), LOCKS)];
        lock.lock();
        try {
            return call(what, opened -> {
                boolean result = change.apply(opened);
                if (durability != DurabilityLevel.BUFFERED || bufferedBytes.addAndGet(bytes) > MAX_BUFFERED_BYTES) {
                    commit(opened, durability);
                }
                return result;
            });
        } finally {
            lock.unlock();
            tend(bytes);
        }
    }

    private void commit(Opened opened, DurabilityLevel durability) {
        bufferedBytes.set(0);
        opened.store.commit();
        if (settings.synced() || durability == DurabilityLevel.TO_DEVICE) {
            opened.store.sync();
        }
        if (opened.store.isClosed()) {
            // It has committed nothing, and did not report that.
            throw DataUtils.newMVStoreException(DataUtils.ERROR_CLOSED, "the file was closed in the meantime");
        }
    }

    /** Compacts after every {@link #TENDED_EVERY_BYTES}. The preceding change has taken effect, whatever the result. */
    private void tend(long bytes) {
        if (untendedBytes.addAndGet(bytes) >= TENDED_EVERY_BYTES) {
            tend();
        }
    }

    /** Rewrites parts of the file with little live data, a little at a time. */
    private void tend() {
        untendedBytes.set(0);
        try {
            call("tend", opened -> {
                opened.store.compact(MIN_FILL_PERCENT, TENDED_AT_ONCE_BYTES);
                opened.store.compactFile(TENDED_AT_ONCE_MILLIS);
                return true;
            });
        } catch (StoreException failed) {
            LOG.log(System.Logger.Level.WARNING, "Maintenance of the file failed: {0}", failed.getMessage());
        } catch (IllegalStateException interrupted) {
            if (!(interrupted.getCause() instanceof InterruptedException)) {
                throw interrupted;
            }
            Thread.currentThread().interrupt();
        }
    }

    private void refuseIfFull() {
        long max = settings.maxDiskBytes();
        if (max > 0 && bytes() >= max) {
            tendWhereFull();
        }
        if (max > 0 && bytes() >= max) {
            throw new StoreException(StoreException.Kind.FULL, file + " has reached its limit of " + max + " bytes",
                    null);
        }
        if (settings.freeDiskBytes() > 0 && untilCheck.getAndDecrement() <= 0) {
            untilCheck.set(CHECK_INTERVAL);
            if (directory.toFile().getUsableSpace() < settings.freeDiskBytes()) {
                tendWhereFull();
            }
            if (directory.toFile().getUsableSpace() < settings.freeDiskBytes()) {
                untilCheck.set(0);
                throw new StoreException(StoreException.Kind.FULL, "Less than " + settings.freeDiskBytes()
                        + " bytes are free on the device of " + file, null);
            }
        }
    }

    @Override
    public boolean hasNote(String name) {
        return call("read a note", opened -> opened.notes.containsKey(name.getBytes(StandardCharsets.UTF_8)));
    }

    @Override
    public void setNote(String name, boolean present) {
        call("note", opened -> {
            byte[] key = name.getBytes(StandardCharsets.UTF_8);
            byte[] before = present ? opened.notes.put(key, NO_VALUE) : opened.notes.remove(key);
            commit(opened, DurabilityLevel.TO_DEVICE);
            return before == null;
        });
    }

    /** Reuses the space of overwritten data; not at each refusal. */
    private void tendWhereFull() {
        long now = System.nanoTime();
        long last = tendedWhereFullNanos.get();
        if (now - last >= TENDED_WHERE_FULL_NANOS && tendedWhereFullNanos.compareAndSet(last, now)) {
            tend();
        }
    }

    /** Size of the file. */
    public long bytes() {
        return file.toFile().length();
    }

    <T extends @Nullable Object> T call(String what, Function<Opened, T> operation) {
        try {
            return files.call(opened -> {
                // Otherwise the library would still return data from its cached pages.
                if (opened.store.isClosed()) {
                    throw DataUtils.newMVStoreException(DataUtils.ERROR_CLOSED, "the file is closed");
                }
                return operation.apply(opened);
            });
        } catch (MVStoreException failed) {
            throw translated(what, failed);
        }
    }

    private StoreException translated(String what, MVStoreException failed) {
        StoreException.Kind kind = switch (failed.getErrorCode()) {
            case DataUtils.ERROR_FILE_LOCKED -> StoreException.Kind.LOCKED;
            case DataUtils.ERROR_WRITING_FAILED, DataUtils.ERROR_READING_FAILED, DataUtils.ERROR_FILE_CORRUPT,
                    DataUtils.ERROR_CHUNK_NOT_FOUND, DataUtils.ERROR_INTERNAL ->
                StoreException.Kind.BROKEN;
            default -> StoreException.Kind.FAILED;
        };
        return new StoreException(kind, what + " in " + file + " failed: " + failed.getMessage(), failed);
    }

    @Override
    public long count() {
        return files.files().keys.sizeAsLong();
    }

    @Override
    public long reopened() {
        return files.reopened();
    }

    /** The library does not report it. */
    @Override
    public long bytesWritten() {
        return UNKNOWN;
    }

    /** The current store of the library. */
    MVStore library() {
        return files.files().store;
    }

    @Override
    public KeyCursor walk() {
        return new MvKeyCursor(this);
    }

    @Override
    public void makeDurable(DurabilityLevel how) {
        if (how != DurabilityLevel.BUFFERED) {
            try {
                files.callOnce(opened -> commit(opened, how));
            } catch (MVStoreException failed) {
                throw translated("hand over", failed);
            }
        }
    }

    @Override
    public void close() {
        files.close(opened -> {
            try {
                opened.store.close();
            } catch (MVStoreException failed) {
                throw translated("close", failed);
            }
        });
    }
}
