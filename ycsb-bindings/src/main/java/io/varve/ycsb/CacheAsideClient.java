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
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;

/**
 * YCSB's view of an application that keeps what it reads from two databases in a cache: the penalty paper's set-up (section
 * 6.1.1); {@code workloads/README.md} has its properties. Confined to one YCSB thread, as YCSB makes one for each.
 *
 * <p><b>What it does.</b> A key's hash says which database has its record. A read asks the cache, and on a miss the database,
 * and puts what that answered into the cache; with {@code varve.fill=sent} it returns as soon as the record is on its way there. A write goes to the database, and then the record is deleted from the cache. Every
 * answer of a database is held back, as by a network: that is simulated, and told as such, with the times as they were.
 *
 * <p><b>What is promised</b> among the clients of one process, as long as the cache answers: a read that begins after a write
 * has returned does not see what was there before the write, from the cache or from the database, and neither stays in the
 * cache. While a write is under way, reads may see either (see {@link PendingFills}). A write that failed may have been
 * done; its record is deleted from the cache all the same. Not promised: clients of two processes do not know of each other's
 * reads, so a record that one of them fetched before the other's write can come into the cache after it, and stays until it is
 * written again, evicted or expired ({@code varve.ttls} bounds that); the same goes for a write whose connection to its
 * database, or a read whose connection to the cache, is lost half-way.
 *
 * <p>Nothing is put into the cache after a read that failed, nor for a record that is not there. A failure of a database or of
 * the cache is {@code ERROR}, and the first of a thread is told on standard error; a cache that refuses what was fetched
 * is told there too, and counted, but the read has its record and is {@code OK}. A cache that takes no hints is refused at the
 * start; one that refuses them later is told once, and what it has without them is counted.
 */
public final class CacheAsideClient extends DB {

    private static final ThreadNumbers THREAD_NUMBERS = new ThreadNumbers();
    private static final SharedRun RUN = new SharedRun();
    private static final String PENALTY = "MISS-PENALTY";
    private static final long NANOS_PER_MICRO = 1000;
    /** For so long a client that ends waits for a fill that is on its way: its threads are joined, and their time is the run's. */
    private static final long LAST_FILL_MILLIS = 5_000;

    private final CacheOpener caches;
    private final Supplier<Delay> delays;
    // Taken here and not in init: YCSB constructs its clients one after another, and starts them all at once.
    private final int threadNumber = THREAD_NUMBERS.take();
    private final Failures failures = new Failures(threadNumber);
    private boolean joined;
    private @Nullable Session session;
    /** The fill that was sent last, where reads do not wait for them: answered after all others. */
    private CompletableFuture<Void> lastFill = CompletableFuture.completedFuture(null);

    /** What a client has between {@link #init()} and {@link #cleanup()}. Immutable. */
    private record Session(CacheAsideOptions options, RecordCache cache, Databases databases, SharedRun.State run) {}

    /** How a client comes to its cache. */
    @FunctionalInterface
    interface CacheOpener {
        RecordCache open(CacheAsideOptions options, int threadNumber) throws RefusedException;
    }

    /** One of YCSB's operations, under way. */
    @FunctionalInterface
    private interface Operation {
        Status run(Session open, byte[] key);
    }

    /** Made by YCSB, all of them before the first is started. */
    public CacheAsideClient() {
        this(WireCache::open, PreciseDelay::new);
    }

    CacheAsideClient(CacheOpener caches, Supplier<Delay> delays) {
        this.caches = caches;
        this.delays = delays;
        RUN.join();
        joined = true;
    }

    /**
     * What the clients of this process have done.
     *
     * @return of the run that goes on, else of the last one; null if there was none
     */
    public static @Nullable CacheAsideSummary summary() {
        return RUN.summary();
    }

    /**
     * Reads the properties and connects to all three.
     *
     * @throws DBException that names the property, its value and what is allowed, or who does not answer
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
                // Its connection is about to close: what is on its way counts.
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

    /** Each whatever becomes of the other. */
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

    /** On the thread on which the cache's answer comes: this one while it waits for an answer, or another. */
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
        failures.tell("filling the cache", Failures.reason(failure));
    }

    /** What becomes of the fill is counted when it is answered, if it is. */
    private void await(Session open, CompletableFuture<Void> counted, long millis) {
        try {
            open.cache().await(counted, millis);
        } catch (RedisException e) {
            failures.tell("filling the cache", Failures.reason(e));
        }
    }

    /** {@inheritDoc} What there was under the key is written over. */
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

    /** Before a database is asked for long: a writer of that key waits for the answer, and only this thread takes it. */
    private void awaitLastFill(Session open) {
        if (!lastFill.isDone()) {
            await(open, lastFill, Connection.TIMEOUT_MILLIS);
        }
    }

    /** First the database, then the cache, whatever became of the database: a write that failed may have been done. */
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
                throw new RedisException("the database has what was written, but the cache may still have what was"
                        + " there before: " + Failures.reason(e), e);
            }
            failed.addSuppressed(e);
        }
        if (failed != null) {
            throw failed;
        }
        return done ? Status.OK : Status.NOT_FOUND;
    }

    /**
     * {@inheritDoc} The order is that of the keys, over both databases. With {@code varve.scan=reads} it is a read of the
     * first record, through the cache.
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

    /** The one place where an operation fails. */
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
            failures.tell(name, e.getMessage());
            return Status.BAD_REQUEST;
        }
        try {
            open.cache().run();
            return operation.run(open, keyBytes);
        } catch (DatabaseException e) {
            failures.tell(name, e.getMessage());
            return Status.ERROR;
        } catch (RedisException e) {
            failures.tell(name, e.getMessage() == null ? Failures.reason(e) : e.getMessage());
            return Status.ERROR;
        } catch (IllegalArgumentException e) {
            // What the cache had is no record of ours.
            failures.tell(name, e.getMessage());
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
