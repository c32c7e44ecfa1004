package io.varve.flash.je;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import com.sleepycat.je.LockMode;
import com.sleepycat.je.OperationResult;
import com.sleepycat.je.OperationStatus;
import com.sleepycat.je.Put;
import com.sleepycat.je.Transaction;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.Handover;
import io.varve.flash.store.KeyWalk;
import io.varve.flash.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * A store in a Berkeley DB JE environment of its own: a log that is appended to, with a B-tree over it, as in the paper (TBF,
 * section III). Many threads, as the library is.
 *
 * <p>JE gives an environment up when it fails to write, or when a thread is interrupted in the middle of an operation. Then this
 * store opens it anew and does the operation again, once: what was handed over to the system is there, what was only buffered
 * may be gone.
 */
public final class JeStore implements FlashStore {
    private static final String DATABASE = "varve";
    /** The library keeps other processes out of a directory, and lets this one in as often as it likes. */
    private static final Set<Path> IN_USE = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final JeSettings settings;
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong reopened = new AtomicLong();
    private volatile Opened opened;

    /** An environment and its database: replaced together. */
    static final class Opened {
        private final Environment environment;
        private final Database database;

        Opened(Environment environment, Database database) {
            this.environment = environment;
            this.database = database;
        }

        Database database() {
            return database;
        }
    }

    private JeStore(Path directory, JeSettings settings) {
        this.directory = directory;
        this.settings = settings;
        if (!IN_USE.add(directory)) {
            throw new StoreException(StoreException.Kind.LOCKED, directory + " is in use by this process already",
                    null);
        }
        try {
            opened = openFiles();
        } catch (StoreException failed) {
            IN_USE.remove(directory);
            throw failed;
        }
    }

    /**
     * Opens the files in the directory, which is made if it is not there.
     *
     * @throws StoreException if somebody else has it open, or its files cannot be read
     */
    public static JeStore open(Path directory, JeSettings settings) {
        try {
            return new JeStore(Files.createDirectories(directory).toRealPath(), settings);
        } catch (IOException refused) {
            throw new UncheckedIOException("The directory " + directory + " cannot be made", refused);
        }
    }

    private Opened openFiles() {
        EnvironmentConfig config = new EnvironmentConfig();
        config.setAllowCreate(true).setTransactional(true);
        config.setCacheSize(settings.cacheBytes());
        // Values are read once and kept by nobody: what is in memory is the tree.
        config.setCacheMode(CacheMode.EVICT_LN);
        config.setOffHeapCacheSize(0);
        config.setLockTimeout(settings.lockTimeoutMillis(), TimeUnit.MILLISECONDS);
        config.setMaxDisk(settings.mostDiskBytes());
        config.setConfigParam(EnvironmentConfig.FREE_DISK, Long.toString(settings.freeDiskBytes()));
        try {
            Environment environment = new Environment(directory.toFile(), config);
            try {
                DatabaseConfig database = new DatabaseConfig();
                database.setAllowCreate(true).setTransactional(true).setKeyPrefixing(true);
                Database files = environment.openDatabase(null, DATABASE, database);
                count.set(files.count());
                return new Opened(environment, files);
            } catch (DatabaseException failed) {
                environment.close();
                throw failed;
            }
        } catch (DatabaseException failed) {
            throw translated("open", failed);
        }
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        return call("get", files -> {
            DatabaseEntry value = new DatabaseEntry();
            OperationStatus status = files.database.get(null, new DatabaseEntry(key), value, LockMode.READ_COMMITTED);
            return status == OperationStatus.SUCCESS ? value.getData() : null;
        });
    }

    @Override
    public boolean put(byte[] key, byte[] value, Handover handover) {
        boolean fresh = change("put", handover, (files, transaction) -> {
            OperationResult result = files.database.put(transaction, new DatabaseEntry(key), new DatabaseEntry(value),
                    Put.OVERWRITE, null);
            return result != null && !result.isUpdate();
        });
        if (fresh) {
            count.incrementAndGet();
        }
        return fresh;
    }

    @Override
    public boolean delete(byte[] key, Handover handover) {
        boolean was = change("delete", handover,
                (files, transaction) -> files.database.delete(transaction,
                        new DatabaseEntry(key)) == OperationStatus.SUCCESS);
        if (was) {
            count.decrementAndGet();
        }
        return was;
    }

    /** What is done in a transaction of its own. */
    @FunctionalInterface
    private interface Change {
        boolean make(Opened files, Transaction transaction);
    }

    private boolean change(String what, Handover handover, Change change) {
        Boolean changed = call(what, files -> {
            Transaction transaction = files.environment.beginTransaction(null, null);
            boolean result;
            try {
                result = change.make(files, transaction);
            } catch (DatabaseException failed) {
                if (files.environment.isValid()) {
                    transaction.abort();
                }
                throw failed;
            }
            transaction.commit(durability(handover));
            return result;
        });
        return Boolean.TRUE.equals(changed);
    }

    private static Durability durability(Handover handover) {
        return switch (handover) {
            case BUFFERED -> Durability.COMMIT_NO_SYNC;
            case TO_SYSTEM -> Durability.COMMIT_WRITE_NO_SYNC;
            case TO_DEVICE -> Durability.COMMIT_SYNC;
        };
    }

    /** Does it, and once more in an environment that was opened anew if the library gave this one up. */
    <T> @Nullable T call(String what, Function<Opened, @Nullable T> operation) {
        // An interrupt in the middle would cost the environment: it waits until this is done.
        boolean interrupted = Thread.interrupted();
        Opened files = opened;
        try {
            return operation.apply(files);
        } catch (DatabaseException | IllegalStateException failed) {
            if (!isGivenUp(files, failed)) {
                throw translated(what, failed);
            }
            try {
                return operation.apply(reopen(files));
            } catch (DatabaseException | IllegalStateException again) {
                throw translated(what, again);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether another try can do better: the library gave up, or another thread has opened it anew meanwhile. */
    private boolean isGivenUp(Opened files, RuntimeException failed) {
        return opened != files || failed instanceof EnvironmentFailureException && !files.environment.isValid();
    }

    private synchronized Opened reopen(Opened broken) {
        if (opened != broken) {
            return opened;
        }
        // Another thread may have been interrupted here: the flag would break what is opened now.
        boolean interrupted = Thread.interrupted();
        try {
            try {
                broken.environment.close();
            } catch (DatabaseException | IllegalStateException expected) {
                // It says once more why it was given up; its files are let go all the same.
                broken.environment.isValid();
            }
            opened = openFiles();
            reopened.incrementAndGet();
            return opened;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
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

    /** How often the environment was opened anew. */
    public long reopened() {
        return reopened.get();
    }

    /** The environment at this moment. */
    Environment environment() {
        return opened.environment;
    }

    @Override
    public KeyWalk walk() {
        return new JeWalk(this);
    }

    @Override
    public void handOver(Handover how) {
        if (how != Handover.BUFFERED) {
            call("hand over", files -> {
                files.environment.flushLog(how == Handover.TO_DEVICE);
                return null;
            });
        }
    }

    @Override
    public synchronized void close() {
        boolean interrupted = Thread.interrupted();
        try {
            opened.database.close();
            opened.environment.close();
        } catch (DiskLimitException full) {
            // There is no room for a last checkpoint: the log is read a little longer when it is opened again.
            opened.environment.isValid();
        } catch (DatabaseException | IllegalStateException failed) {
            throw translated("close", failed);
        } finally {
            IN_USE.remove(directory);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
