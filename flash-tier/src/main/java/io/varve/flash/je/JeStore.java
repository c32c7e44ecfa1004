package io.varve.flash.je;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import com.sleepycat.je.CacheMode;
import com.sleepycat.je.Database;
import com.sleepycat.je.DatabaseConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.DatabaseException;
import com.sleepycat.je.DiskLimitException;
import com.sleepycat.je.Durability;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentConfig;
import com.sleepycat.je.EnvironmentFailureException;
import com.sleepycat.je.EnvironmentLockedException;
import com.sleepycat.je.EnvironmentStats;
import com.sleepycat.je.LockMode;
import com.sleepycat.je.OperationResult;
import com.sleepycat.je.OperationStatus;
import com.sleepycat.je.Put;
import com.sleepycat.je.StatsConfig;
import com.sleepycat.je.Transaction;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import io.varve.flash.store.Reopening;
import io.varve.flash.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * A store in its own Berkeley DB JE environment: an append-only log with a B-tree over it, as in the paper (TBF,
 * section III). Many threads, as the library is.
 *
 * <p>JE invalidates an environment when it fails to write, or when a thread is interrupted during an operation. The
 * store then reopens it ({@link Reopening}): data that was handed over to the system is there, buffered data may be
 * lost.
 */
public final class JeStore implements FlashStore {
    private static final String DATABASE = "varve";
    private static final String NOTES = "notes";
    /** The library's minimum, and its default. */
    private static final int MIN_FILE_BYTES = 1_000_000;
    private static final int MAX_FILE_BYTES = 10_000_000;
    private static final int CLEANER_WINDOW_BYTES = 8192;
    private static final int HEAP_PER_WINDOW = 8;
    /** The library excludes other processes from a directory, but not other stores of this process. */
    private static final Set<Path> IN_USE = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final JeSettings settings;
    private final AtomicLong count = new AtomicLong();
    private final Reopening<Opened> files;

    /** An environment and its databases, replaced together. Immutable. */
    record Opened(Environment environment, Database database, Database notes) {}

    private JeStore(Path directory, JeSettings settings) {
        this.directory = directory;
        this.settings = settings;
        if (!IN_USE.add(directory)) {
            throw new StoreException(StoreException.Kind.LOCKED, directory + " is in use by this process already",
                    null);
        }
        try {
            files = new Reopening<>("The environment in " + directory,
                    new Reopening.Handling<>(this::openFiles, (opened, _) -> opened.environment.isValid(),
                            JeStore::closeBroken),
                    settings.retryMillis(), System::nanoTime);
        } catch (StoreException failed) {
            IN_USE.remove(directory);
            throw failed;
        }
    }

    /**
     * Opens the files in the directory, which is created if necessary.
     *
     * @throws StoreException if another process has it open, or its files cannot be read
     */
    public static JeStore open(Path directory, JeSettings settings) {
        try {
            return new JeStore(Files.createDirectories(directory).toRealPath(), settings);
        } catch (IOException refused) {
            throw new UncheckedIOException("The directory " + directory + " cannot be created", refused);
        }
    }

    private Opened openFiles() {
        EnvironmentConfig config = new EnvironmentConfig();
        config.setAllowCreate(true).setTransactional(true);
        config.setCacheSize(settings.cacheBytes());
        // Values are read once and not cached: memory holds the tree.
        config.setCacheMode(CacheMode.EVICT_LN);
        config.setOffHeapCacheSize(0);
        config.setLockTimeout(settings.lockTimeoutMillis(), TimeUnit.MILLISECONDS);
        config.setMaxDisk(settings.maxDiskBytes());
        config.setConfigParam(EnvironmentConfig.FREE_DISK, Long.toString(settings.freeDiskBytes()));
        // Otherwise damage in the last file would look like the end of the log, and records after it would be lost
        // silently.
        config.setConfigParam(EnvironmentConfig.HALT_ON_COMMIT_AFTER_CHECKSUMEXCEPTION, "true");
        // The library searches for commits behind the damage. It loses its place if the damaged entry crosses the end
        // of a read window, so the window is a whole file.
        String fileBytes = Integer.toString(fileBytes());
        config.setConfigParam(EnvironmentConfig.LOG_FILE_MAX, fileBytes);
        config.setConfigParam(EnvironmentConfig.LOG_ITERATOR_READ_SIZE, fileBytes);
        config.setConfigParam(EnvironmentConfig.CLEANER_READ_SIZE, Integer.toString(CLEANER_WINDOW_BYTES));
        try {
            Environment environment = new Environment(directory.toFile(), config);
            try {
                DatabaseConfig database = new DatabaseConfig();
                database.setAllowCreate(true).setTransactional(true).setKeyPrefixing(true);
                Database opened = environment.openDatabase(null, DATABASE, database);
                Database notes = environment.openDatabase(null, NOTES, database);
                count.set(opened.count());
                return new Opened(environment, opened, notes);
            } catch (DatabaseException failed) {
                environment.close();
                throw failed;
            }
        } catch (DatabaseException | IllegalArgumentException failed) {
            // The latter if the directory has disappeared.
            throw translated("open", failed);
        }
    }

    /** Size of each log file. When the files are opened, one is read into the heap. */
    private static int fileBytes() {
        return Math.clamp(Runtime.getRuntime().maxMemory() / HEAP_PER_WINDOW, MIN_FILE_BYTES, MAX_FILE_BYTES);
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        return call("get", opened -> {
            DatabaseEntry value = new DatabaseEntry();
            OperationStatus status = opened.database.get(null, new DatabaseEntry(key), value, LockMode.READ_COMMITTED);
            return status == OperationStatus.SUCCESS ? value.getData() : null;
        });
    }

    @Override
    public boolean put(byte[] key, byte[] value, DurabilityLevel durability) {
        boolean fresh = change("put", durability, (opened, transaction) -> {
            OperationResult result = opened.database.put(transaction, new DatabaseEntry(key), new DatabaseEntry(value),
                    Put.OVERWRITE, null);
            return result != null && !result.isUpdate();
        });
        if (fresh) {
            count.incrementAndGet();
        }
        return fresh;
    }

    @Override
    public boolean delete(byte[] key, DurabilityLevel durability) {
        boolean was = change("delete", durability, (opened, transaction) -> {
            boolean there = opened.database.delete(transaction, new DatabaseEntry(key)) == OperationStatus.SUCCESS;
            if (!there && durability != DurabilityLevel.BUFFERED) {
                // A transaction without changes flushes nothing. This flush uses the queried files, or the operation is
                // retried.
                opened.environment.flushLog(durability == DurabilityLevel.TO_DEVICE);
            }
            return there;
        });
        if (was) {
            count.decrementAndGet();
        }
        return was;
    }

    /** An operation in its own transaction. */
    @FunctionalInterface
    private interface Change {
        boolean make(Opened opened, Transaction transaction);
    }

    private boolean change(String what, DurabilityLevel durability, Change change) {
        return call(what, opened -> {
            Transaction transaction = opened.environment.beginTransaction(null, null);
            boolean result;
            try {
                result = change.make(opened, transaction);
            } catch (DatabaseException failed) {
                if (opened.environment.isValid()) {
                    transaction.abort();
                }
                throw failed;
            }
            transaction.commit(durability(durability));
            return result;
        });
    }

    @Override
    public boolean hasNote(String name) {
        return call("read a note", opened -> opened.notes.get(null, new DatabaseEntry(name(name)), new DatabaseEntry(),
                LockMode.READ_COMMITTED) == OperationStatus.SUCCESS);
    }

    @Override
    public void setNote(String name, boolean present) {
        change("note", DurabilityLevel.TO_DEVICE, (opened, transaction) -> {
            DatabaseEntry key = new DatabaseEntry(name(name));
            OperationStatus status = present
                    ? opened.notes.put(transaction, key, new DatabaseEntry(new byte[0]))
                    : opened.notes.delete(transaction, key);
            return status == OperationStatus.SUCCESS;
        });
    }

    private static byte[] name(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private static Durability durability(DurabilityLevel durability) {
        return switch (durability) {
            case BUFFERED -> Durability.COMMIT_NO_SYNC;
            case TO_SYSTEM -> Durability.COMMIT_WRITE_NO_SYNC;
            case TO_DEVICE -> Durability.COMMIT_SYNC;
        };
    }

    <T extends @Nullable Object> T call(String what, Function<Opened, T> operation) {
        try {
            return files.call(operation);
        } catch (DatabaseException | IllegalStateException failed) {
            throw translated(what, failed);
        }
    }

    private static void closeBroken(Opened broken) {
        try {
            broken.environment.close();
        } catch (DatabaseException | IllegalStateException expected) {
            // It repeats why it was invalidated; its files are released regardless.
            broken.environment.isValid();
        }
    }

    private StoreException translated(String what, RuntimeException failed) {
        StoreException.Kind kind = switch (failed) {
            case DiskLimitException _ -> StoreException.Kind.FULL;
            case EnvironmentLockedException _ -> StoreException.Kind.LOCKED;
            case EnvironmentFailureException _ -> StoreException.Kind.BROKEN;
            default -> StoreException.Kind.FAILED;
        };
        return new StoreException(kind, what + " in " + directory + " failed: " + failed.getMessage(), failed);
    }

    @Override
    public long count() {
        return count.get();
    }

    @Override
    public long reopened() {
        return files.reopened();
    }

    @Override
    public long bytesWritten() {
        return call("count", opened -> {
            EnvironmentStats stats = opened.environment.getStats(new StatsConfig().setFast(true));
            return stats.getNSequentialWriteBytes() + stats.getNRandomWriteBytes();
        });
    }

    /** The current environment. */
    Environment environment() {
        return files.files().environment;
    }

    @Override
    public KeyCursor walk() {
        return new JeKeyCursor(this);
    }

    @Override
    public void makeDurable(DurabilityLevel how) {
        if (how != DurabilityLevel.BUFFERED) {
            try {
                files.callOnce(opened -> opened.environment.flushLog(how == DurabilityLevel.TO_DEVICE));
            } catch (DatabaseException | IllegalStateException failed) {
                throw translated("hand over", failed);
            }
        }
    }

    @Override
    public void close() {
        files.close(this::close);
    }

    private void close(Opened opened) {
        try {
            if (!opened.environment.isValid()) {
                closeBroken(opened);
                return;
            }
            opened.notes.close();
            opened.database.close();
            opened.environment.close();
        } catch (DiskLimitException full) {
            // There is no space for a last checkpoint: the next open reads more of the log.
            opened.environment.isValid();
        } catch (DatabaseException | IllegalStateException failed) {
            throw translated("close", failed);
        } finally {
            IN_USE.remove(directory);
        }
    }
}
