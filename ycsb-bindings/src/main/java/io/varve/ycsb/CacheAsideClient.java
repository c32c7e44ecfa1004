package io.varve.ycsb;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.lettuce.core.RedisException;
import io.varve.ycsb.connection.Connection;
import io.varve.ycsb.connection.Failures;
import io.varve.ycsb.connection.RefusedException;
import io.varve.ycsb.database.CacheAsideSummary;
import io.varve.ycsb.database.Database;
import io.varve.ycsb.database.DatabaseException;
import io.varve.ycsb.database.Databases;
import io.varve.ycsb.database.Delay;
import io.varve.ycsb.database.PendingFills;
import io.varve.ycsb.database.PreciseDelay;
import io.varve.ycsb.database.SharedRun;
import io.varve.ycsb.option.CacheAsideOptions;
import io.varve.ycsb.option.Side;
import io.varve.ycsb.record.RecordCache;
import io.varve.ycsb.record.RecordCoding;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;

/**
 * A YCSB binding that models an application with a cache in front of two databases: the penalty paper's set-up (section
 * 6.1.1). Confined to one YCSB thread, as YCSB creates one for each; {@code workloads/README.md} lists its properties.
 *
 * <p><b>Operations.</b> A key's hash determines the database of its record. A read asks the cache, and on a miss the
 * database, and writes the database's record into the cache. With {@code varve.fill=sent} it returns as soon as that
 * write is sent. A write goes to the database and then deletes the record from the cache. Each reply of a database is
 * delayed as by a network; the delay is simulated, and reported as such with its measured times.
 *
 * <p><b>Guarantee</b> among the clients of one process, as long as the cache answers: a read that begins after a write
 * has returned does not see the earlier value, neither from the cache nor from the database, and that value does not
 * stay in the cache. During a write, reads may see either value (see {@link PendingFills}). A failed write may have
 * taken effect; its record is deleted from the cache regardless.
 *
 * <p><b>No guarantee</b> between clients of two processes, which do not know of each other's reads. A record that one
 * of them fetched before the other's write can enter the cache after it. It stays until the next write, its eviction or
 * its expiry ({@code varve.ttls} bounds that). Nor is there one after a write that loses its connection to the database
 * half-way, or a read that loses its connection to the cache.
 *
 * <p>A failed read, or one without a record, puts nothing into the cache. A failure of a database or of the cache is
 * {@code ERROR}, and the first of a thread is reported on standard error. If the cache refuses a fetched record, that
 * is reported there too, and counted, but the read has its record and is {@code OK}. A cache that does not accept hints
 * is rejected at the start. If it refuses them later, that is reported once, and records without hints are counted.
 */
public final class CacheAsideClient extends DB {

    private static final ThreadNumbers THREAD_NUMBERS = new ThreadNumbers();
    private static final SharedRun RUN = new SharedRun();
    private static final String PENALTY = "MISS-PENALTY";
    private static final long NANOS_PER_MICRO = 1000;
    /**
     * Maximum wait of an ending client for an outstanding fill: its threads are joined, and their time counts for the
     * run.
     */
    private static final long LAST_FILL_MILLIS = 5_000;

    private final CacheOpener caches;
    private final Supplier<Delay> delays;
    // Taken here and not in init: YCSB constructs its clients one after another, and starts them all at once.
    private final int threadNumber = THREAD_NUMBERS.take();
    private final Failures failures = new Failures(threadNumber);
    private boolean joined;
    private @Nullable Session session;
    /** The last fill that was sent without waiting: its reply follows those of all others. */
    private CompletableFuture<Void> lastFill = CompletableFuture.completedFuture(null);

    /** The state of a client between {@link #init()} and {@link #cleanup()}. Immutable. */
    private record Session(CacheAsideOptions options, RecordCache cache, Databases databases, SharedRun.State run) {}

    /** Opens a client's cache. */
    @FunctionalInterface
    interface CacheOpener {
        RecordCache open(CacheAsideOptions options, int threadNumber) throws RefusedException;
    }

    /** One of YCSB's operations. */
    @FunctionalInterface
    private interface Operation {
        Status run(Session open, byte[] key);
    }

    /** Called by YCSB for all clients before the first is started. */
    public CacheAsideClient() {
        this(DividedCache::open, PreciseDelay::new);
    }

    CacheAsideClient(CacheOpener caches, Supplier<Delay> delays) {
        this.caches = caches;
        this.delays = delays;
        RUN.join();
        joined = true;
    }

    /**
     * The counters of this process's clients.
     *
     * @return those of the current run, else of the last one; null if there was none
     */
    public static @Nullable CacheAsideSummary summary() {
        return RUN.summary();
    }

    /**
     * Reads the properties and connects to the cache and both databases.
     *
     * @throws DBException that names the property, its value and the allowed values, or the server that does not reply
     */
    @Override
    public void init() throws DBException {
        try {
            session = open(CacheAsideOptions.parse(getProperties()));
        } catch (IllegalArgumentException | DatabaseException e) {
            leave();
            throw new RefusedException(String.valueOf(e.getMessage()), e);
        } catch (RefusedException e) {
            // YCSB does not clean up after a client that did not start.
            leave();
            throw e;
        }
    }

    private Session open(CacheAsideOptions options) throws RefusedException {
        SharedRun.State run = RUN.open(options.stress(), getProperties());
        Databases databases = Databases.open(options, run, delays.get());
        try {
            run.prepareOnce(() -> databases.prepare(options.load()));
            Session opened = new Session(options, caches.open(options, threadNumber), databases, run);
            run.begin();
            return opened;
        } catch (RefusedException | DatabaseException e) {
            try {
                databases.close();
            } catch (SQLException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    @Override
    public void cleanup() throws DBException {
        Session open = session;
        session = null;
        try {
            if (open != null) {
                // Its connection is about to close: an outstanding fill counts.
                await(open, lastFill, LAST_FILL_MILLIS);
                close(open);
            }
        } finally {
            failures.end();
            leave();
        }
    }

    private static void close(Session open) throws DBException {
        try {
            closeBoth(open.cache(), open.databases());
        } catch (SQLException | RedisException e) {
            throw new DBException("a connection did not close: " + Failures.reason(e), e);
        }
    }

    /** Closes each, even if the other fails. */
    private static void closeBoth(RecordCache cache, Databases databases) throws SQLException {
        try (databases) {
            cache.close();
        }
    }

    private void leave() {
        if (joined) {
            joined = false;
            THREAD_NUMBERS.release(threadNumber);
            RUN.leave(System.out);
        }
    }

    @Override
    public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
        return run("read", key, fields, (open, keyBytes) -> {
            Map<String, ByteIterator> cached = new HashMap<>();
            if (open.cache().read(keyBytes, cached)) {
                open.run().hits.increment();
                take(cached, fields, result);
                return Status.OK;
            }
            return readMissed(open, key, keyBytes, fields, result);
        });
    }

    private Status readMissed(Session open, String key, byte[] keyBytes, @Nullable Set<String> fields,
            Map<String, ByteIterator> result) {
        long missed = System.nanoTime();
        open.run().misses.increment();
        try (PendingFills.Fill fill = open.run().fills().begin(key)) {
            Optional<Map<String, byte[]>> record = open.databases().of(key).fetch(key);
            if (record.isEmpty()) {
                return Status.NOT_FOUND;
            }
            fill(open, fill, Side.of(key), keyBytes, record.get(), missed);
            take(iterators(record.get()), fields, result);
            return Status.OK;
        }
    }

    private void fill(Session open, PendingFills.Fill fill, Side side, byte[] keyBytes, Map<String, byte[]> record,
            long missed) {
        CompletableFuture<Optional<String>> answer;
        try {
            answer = fill.unlessOvertaken(this,
                    () -> open.cache().write(keyBytes, record, open.options().database(side).penaltyClass()));
        } catch (RedisException e) {
            refused(open, e);
            return;
        }
        if (answer == null) {
            open.run().overtaken.increment();
            return;
        }
        boolean awaited = open.options().fill() == CacheAsideOptions.Fill.ANSWERED;
        long sent = System.nanoTime();
        CompletableFuture<Void> counted = answer.handle((unhinted, failure) -> {
            if (failure == null) {
                filled(open, side, unhinted, (awaited ? System.nanoTime() : sent) - missed);
            } else {
                refused(open, failure);
            }
            return null;
        });
        if (awaited) {
            await(open, counted, Connection.TIMEOUT_MILLIS);
        } else {
            lastFill = counted;
        }
    }

    /** Runs on the thread on which the cache's reply arrives: this one while it waits for a reply, or another. */
    private static void filled(Session open, Side side, Optional<String> unhinted, long penaltyNanos) {
        unhinted.ifPresent(open.run()::unhinted);
        open.run().filled.increment();
        open.run().counters(side).penalty(penaltyNanos);
        int micros = (int) Math.min(penaltyNanos / NANOS_PER_MICRO, Integer.MAX_VALUE);
        Measurements measurements = open.run().measurements();
        measurements.measure(PENALTY, micros);
        measurements.measure(PENALTY + "-" + side, micros);
    }

    private void refused(Session open, Throwable failure) {
        open.run().refused.increment();
        failures.report("filling the cache", Failures.reason(failure));
    }

    /** Waits for a fill, whose result is counted when its reply arrives, if it does. */
    private void await(Session open, CompletableFuture<Void> counted, long millis) {
        try {
            open.cache().await(counted, millis);
        } catch (RedisException e) {
            failures.report("filling the cache", Failures.reason(e));
        }
    }

    /** {@inheritDoc} An existing record is overwritten. */
    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return run("insert", key, values.keySet(), (open, keyBytes) -> {
            Map<String, byte[]> fields = RecordCoding.bytes(values);
            return write(open, key, keyBytes, () -> {
                open.databases().of(key).insert(key, fields);
                return true;
            });
        });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return run("update", key, values.keySet(), (open, keyBytes) -> {
            if (values.isEmpty()) {
                return Status.BAD_REQUEST;
            }
            Map<String, byte[]> fields = RecordCoding.bytes(values);
            return write(open, key, keyBytes, () -> open.databases().of(key).update(key, fields));
        });
    }

    @Override
    public Status delete(String table, String key) {
        return run("delete", key, null,
                (open, keyBytes) -> write(open, key, keyBytes, () -> open.databases().of(key).delete(key)));
    }

    /**
     * Called before a long wait for a database: a writer of that key waits for the reply to the fill, and only this
     * thread receives it.
     */
    private void awaitLastFill(Session open) {
        if (!lastFill.isDone()) {
            await(open, lastFill, Connection.TIMEOUT_MILLIS);
        }
    }

    /**
     * Writes to the database and then deletes from the cache, even if the database failed: a failed write may have
     * taken effect.
     */
    private Status write(Session open, String key, byte[] keyBytes, BooleanSupplier database) {
        awaitLastFill(open);
        DatabaseException failed = null;
        boolean done = false;
        try {
            done = database.getAsBoolean();
        } catch (DatabaseException e) {
            failed = e;
        }
        RedisException unanswered = null;
        try {
            open.run().fills().overtake(key, this, open.cache());
        } catch (RedisException e) {
            unanswered = e;
        }
        try {
            open.cache().remove(keyBytes);
            open.run().invalidations.increment();
            if (unanswered != null) {
                throw unanswered;
            }
        } catch (RedisException e) {
            if (failed == null) {
                throw new RedisException("the database has the new record, but the cache may still have the old one: "
                        + Failures.reason(e), e);
            }
            failed.addSuppressed(e);
        }
        if (failed != null) {
            throw failed;
        }
        return done ? Status.OK : Status.NOT_FOUND;
    }

    /**
     * {@inheritDoc} The order is that of the keys, over both databases. With {@code varve.scan=reads} it is a read of
     * the first record, through the cache.
     */
    @Override
    @SuppressWarnings("NonApiType") // The types are YCSB's.
    public Status scan(String table, String startKey, int recordCount, @Nullable Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        Session present = session;
        if (present != null && present.options().scan() == CacheAsideOptions.Scan.READS) {
            HashMap<String, ByteIterator> record = new HashMap<>();
            Status status = read(table, startKey, fields, record);
            if (status.isOk()) {
                result.add(record);
            }
            return status;
        }
        return run("scan", startKey, fields, (open, keyBytes) -> {
            if (recordCount < 1) {
                return Status.BAD_REQUEST;
            }
            awaitLastFill(open);
            List<Database.Row> rows = open.databases().scan(startKey, recordCount);
            for (Database.Row row : rows) {
                HashMap<String, ByteIterator> record = new HashMap<>();
                take(iterators(row.fields()), fields, record);
                result.add(record);
            }
            return Status.OK;
        });
    }

    /** The only place where an operation fails. */
    private Status run(String name, String key, @Nullable Set<String> fields, Operation operation) {
        Session open = session;
        if (open == null) {
            throw new IllegalStateException(name + " before init or after cleanup");
        }
        open.run().stress().count();
        byte[] keyBytes;
        try {
            keyBytes = open.options().cache().key().encode(key);
            open.options().table().check(fields == null ? Set.of() : fields);
        } catch (IllegalArgumentException e) {
            failures.report(name, e.getMessage());
            return Status.BAD_REQUEST;
        }
        try {
            open.cache().run();
            return operation.run(open, keyBytes);
        } catch (DatabaseException e) {
            failures.report(name, e.getMessage());
            return Status.ERROR;
        } catch (RedisException e) {
            failures.report(name, e.getMessage() == null ? Failures.reason(e) : e.getMessage());
            return Status.ERROR;
        } catch (IllegalArgumentException e) {
            // The cache's value is not one of our records.
            failures.report(name, e.getMessage());
            return Status.UNEXPECTED_STATE;
        }
    }

    private static Map<String, ByteIterator> iterators(Map<String, byte[]> record) {
        Map<String, ByteIterator> iterators = new HashMap<>();
        record.forEach((name, value) -> iterators.put(name, new ByteArrayByteIterator(value)));
        return iterators;
    }

    private static void take(Map<String, ByteIterator> record, @Nullable Set<String> fields,
            Map<String, ByteIterator> result) {
        record.forEach((name, value) -> {
            if (fields == null || fields.contains(name)) {
                result.put(name, value);
            }
        });
    }
}
