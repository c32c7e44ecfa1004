package io.varve.server.persistence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.varve.memory.item.Ticker;
import io.varve.server.persistence.ChangeStream.Section;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The append-only log: writes the {@link ChangeStream} into the files of a directory, as Redis 7 lays them out, on a
 * thread of its own. Any thread asks whether an offset is durable; none waits for the disk.
 *
 * <p>While a block is forced to disk, commands go on, and the next block collects what they change. So many clients
 * share one force (group commit).
 *
 * <p>If the disk is full, the log keeps what it could not write, and tries again; meanwhile {@link #failure} says why.
 */
public final class AppendLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AppendLog.class);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /** How long the thread sleeps if there was nothing to write, and nobody asks. */
    private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /**
     * How long it sleeps after a block that no client waits for, so that the next one is worth its system call, and yet
     * still in the processor's cache when it is written.
     */
    private static final long GATHER_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Attempts to write what is left at the end, if the disk is full. */
    private static final int LAST_ATTEMPTS = 10;
    /** How often the rewriting thread looks whether the log's thread is alive. */
    private static final long WAIT_MILLIS = 100;

    /** When written blocks are forced to disk. */
    public enum Sync {
        ALWAYS, EVERYSEC, NO
    }

    /** Creates the log of a server. */
    @FunctionalInterface
    public interface Factory {
        /** See {@link AppendLog#AppendLog(ChangeStream, Ticker, Consumer)}. */
        AppendLog create(ChangeStream stream, Ticker ticker, Consumer<String> fatal);
    }

    private final ChangeStream stream;
    private final Disk disk;
    private final Ticker ticker;
    private final long retryNanos;
    private final Consumer<String> fatal;
    private final DurabilityWaiters waiters = new DurabilityWaiters();
    private final LogTimings timings = new LogTimings();
    private volatile @Nullable Thread thread;
    private volatile Sync sync = Sync.EVERYSEC;
    private volatile boolean stamped;
    private volatile boolean holding;
    private volatile boolean rewriteScheduled;
    private volatile boolean closing;
    private volatile long durable;
    private volatile @Nullable String failure;

    // Guarded by this, as the files are: the rewriting thread replaces the base.
    private Path directory = Path.of("");
    private String name = "";
    private LogManifest manifest = LogManifest.empty();
    /** Whether the manifest on disk is this one, not that of an earlier log. */
    private volatile boolean isComplete;
    private List<String> obsolete = List.of();
    private long fileStart = -1;
    /** The highest numbers so far: a name is never used twice, whatever became of its file. */
    private long lastBase;
    private long lastIncrement;
    private volatile long closedBytes;
    private volatile long rewrittenBytes;
    private volatile long baseBytes;
    private @Nullable DirectoryLock lock;

    // Confined to the thread.
    private @Nullable IncrementFile file;
    /** The next file, if it was created and could not be listed; its number is {@link #lastIncrement}. */
    private @Nullable IncrementFile created;
    private long written;
    private long forcedNanos;
    private boolean writeFails;
    private boolean forceFails;
    private boolean lost;
    /** The process has to end: nothing is written any more. */
    private boolean ended;
    private volatile long fileBytes;

    /** @param fatal called when a force failed under {@link Sync#ALWAYS}: acknowledged data may be lost */
    public AppendLog(ChangeStream stream, Ticker ticker, Consumer<String> fatal) {
        this(stream, Disk.system(), ticker, RETRY_NANOS, fatal);
    }

    /** @param retryNanos the pause after a failed write */
    AppendLog(ChangeStream stream, Disk disk, Ticker ticker, long retryNanos, Consumer<String> fatal) {
        this.retryNanos = retryNanos;
        this.stream = stream;
        this.disk = disk;
        this.ticker = ticker;
        this.fatal = fatal;
    }

    // --- settings

    /** Sets when blocks are forced. */
    public void sync(Sync wanted) {
        sync = wanted;
        holding = wanted == Sync.ALWAYS && isOpen();
        LockSupport.unpark(thread);
        if (!holding) {
            waiters.run(Long.MAX_VALUE);
        }
    }

    /** Sets whether blocks begin with a line that has the time, for people: {@code aof-timestamp-enabled}. */
    public void stamped(boolean wanted) {
        stamped = wanted;
    }

    // --- durability

    /** Whether replies to commands up to this offset may leave. */
    public boolean isDurable(long offset) {
        return !holding || durable >= offset;
    }

    /** The offset up to which the stream is on disk. */
    public long durable() {
        return durable;
    }

    /**
     * Runs an action once {@link #isDurable}, on any thread, perhaps at once. An action that waits already waits for
     * the later offset. Somebody has to ask for it: {@link #writeSoon}.
     */
    public void whenDurable(long offset, Runnable action) {
        waiters.add(offset, action);
        if (isDurable(offset)) {
            waiters.run(holding ? durable : Long.MAX_VALUE);
        }
    }

    /**
     * Has the thread write what was appended, at once or after the block that it writes. An event loop calls it after
     * all clients that it has found ready, and not for each of them: they share one force.
     */
    public void writeSoon() {
        LockSupport.unpark(thread);
    }

    /** Forgets an action that waits: its client is gone. */
    public void cancel(Runnable action) {
        waiters.cancel(action);
    }

    /** How many actions wait. */
    int waiterCount() {
        return waiters.count();
    }

    /** Why the log cannot be written at the moment; null if it can. */
    public @Nullable String failure() {
        return failure;
    }

    // --- begin and end

    /** Whether its files hold all data, so that a start could load it. */
    public boolean isComplete() {
        return isComplete;
    }

    /** Whether the stream is being written. */
    public boolean isOpen() {
        return thread != null;
    }

    /**
     * Begins to log into a directory, with an increment that {@link ChangeStream#cut} has begun.
     *
     * @param loaded lists the files that the data was loaded from: others of the manifest on disk are deleted once the
     *     next one does not list them; null if the log is worth nothing before {@link #replaceBase}
     */
    public synchronized void open(Path into, String fileName, @Nullable LogManifest loaded) throws IOException {
        if (thread != null) {
            throw new IllegalStateException("the log is open");
        }
        directory = into;
        name = fileName;
        Path existing = LogManifest.file(into, fileName);
        LogManifest old = Files.exists(existing) ? LogManifest.read(existing) : LogManifest.empty();
        manifest = loaded == null ? old : loaded;
        obsolete = new ArrayList<>(old.names());
        if (loaded != null) {
            obsolete.removeAll(loaded.names());
        }
        isComplete = loaded != null;
        lastBase = Math.max(manifest.lastBase(), LogManifest.lastNumber(into, fileName, ".base."));
        lastIncrement = Math.max(manifest.lastIncrement(), LogManifest.lastNumber(into, fileName, ".incr."));
        long all = 0;
        baseBytes = 0;
        for (String each : loaded == null ? List.<String>of() : loaded.names()) {
            all += disk.size(into.resolve(each));
        }
        closedBytes = all;
        if (loaded != null && loaded.base() != null) {
            baseBytes = disk.size(into.resolve(loaded.base().name()));
        }
        rewrittenBytes = closedBytes;
        fileStart = -1;
        ended = false;
        closing = false;
        failure = null;
        lost = false;
        writeFails = false;
        forceFails = false;
        forcedNanos = ticker.nanoTime();
        thread = Thread.ofPlatform().name("varve-log").daemon().unstarted(this::run);
        holding = sync == Sync.ALWAYS;
        stream.attach();
        thread.start();
    }

    /**
     * Reserves a directory for this process, creating it if necessary. The end of the process, or {@link #close},
     * releases it.
     *
     * @throws IOException if another process has it, or it cannot be written
     */
    public synchronized void lock(Path wanted) throws IOException {
        if (lock == null) {
            lock = DirectoryLock.of(wanted);
        }
    }

    private synchronized void unlock() {
        DirectoryLock held = lock;
        lock = null;
        if (held != null) {
            try {
                held.close();
            } catch (IOException failed) {
                LOG.warn("The lock of {} could not be released", directory, failed);
            }
        }
    }

    /**
     * Detaches itself from the stream, writes and forces what was appended, and ends; then no reply waits, and no write
     * is refused.
     */
    @Override
    public void close() {
        Thread ending = thread;
        if (ending == null) {
            unlock();
            return;
        }
        stream.detach();
        closing = true;
        LockSupport.unpark(ending);
        boolean interrupted = false;
        while (ending.isAlive()) {
            try {
                ending.join();
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        synchronized (this) {
            thread = null;
            failure = null;
            notifyAll();
        }
        holding = false;
        unlock();
        // Changes that are lost too: from here on nobody is promised that a change is on disk.
        waiters.run(Long.MAX_VALUE);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // --- the thread

    private void run() {
        try {
            while (true) {
                boolean hasWritten = writeNext();
                forceIfDue();
                if (ended || closing && !hasWritten) {
                    return;
                }
                if (!closing && !stream.isFull()) {
                    rest(hasWritten);
                }
            }
        } catch (RuntimeException | Error bug) {
            LOG.error("The log has failed", bug);
            fatal.accept("the log has failed: " + bug);
        } finally {
            closeFiles();
        }
    }

    /** Waits until somebody asks for a write; if nobody has to wait for one, until the next block is worth it. */
    private void rest(boolean hasWritten) {
        // ORDER: whoever appends and then asks is heard, also if that was before: the permit of unpark stays.
        LockSupport.parkNanos(this, hasWritten && sync != Sync.ALWAYS ? GATHER_NANOS : REST_NANOS);
    }

    /** @return whether there was something */
    private boolean writeNext() {
        Section section = stream.take();
        if (section == null) {
            return false;
        }
        int attempts = 0;
        boolean done = false;
        // Commands behind a loss would run in the wrong database, or at the wrong time.
        while (!done && !lost && !ended && !(closing && attempts > LAST_ATTEMPTS)) {
            try {
                write(section);
                done = true;
            } catch (IOException failed) {
                attempts++;
                writeFails = true;
                failed(failed);
                // A disk without room still forces the blocks before.
                forceIfDue();
                LockSupport.parkNanos(this, retryNanos);
            }
        }
        if (done) {
            written = section.end;
            writeFails = false;
            recovered();
        } else {
            lost = true;
            LOG.error("{} bytes of changes are lost: they could not be written to {}", section.bytes, directory);
        }
        stream.release(section);
        return true;
    }

    private void write(Section section) throws IOException {
        if (section.startsFile && fileStart() != section.start) {
            startFile(section.start);
        }
        if (section.bytes > 0) {
            IncrementFile current = java.util.Objects.requireNonNull(file, "the first section begins a file");
            long begin = ticker.nanoTime();
            current.write(section, stamped ? TimeUnit.MILLISECONDS.toSeconds(ticker.wallMillis()) : -1);
            timings.wrote(ticker.nanoTime() - begin);
            fileBytes = current.bytes();
        }
    }

    private synchronized long fileStart() {
        return fileStart;
    }

    /** The next increment is listed before anything is written into it. */
    private synchronized void startFile(long start) throws IOException {
        IncrementFile before = file;
        if (before != null && before.isUnforced()) {
            before.force();
        }
        IncrementFile next = created;
        if (next == null) {
            // If this fails, no manifest lists the name, and the next attempt uses it again.
            next = IncrementFile.create(disk,
                    directory.resolve(LogManifest.Entry.increment(name, lastIncrement + 1).name()));
            created = next;
            lastIncrement++;
        }
        LogManifest changed = manifest.with(LogManifest.Entry.increment(name, lastIncrement));
        disk.forceDirectory(directory);
        if (isComplete) {
            changed.write(disk, directory, name);
            delete(obsolete);
            obsolete = List.of();
        }
        manifest = changed;
        created = null;
        if (before != null) {
            closedBytes += before.bytes();
            before.close();
        }
        file = next;
        fileBytes = next.bytes();
        fileStart = start;
        durable = start;
        notifyAll();
        waiters.run(start);
    }

    private void forceIfDue() {
        IncrementFile current = file;
        if (current == null || !current.isUnforced() || ended) {
            return;
        }
        boolean isDue = closing || switch (sync) {
            case ALWAYS -> true;
            case EVERYSEC -> ticker.nanoTime() - forcedNanos >= SECOND;
            case NO -> false;
        };
        if (isDue) {
            force(current);
        }
    }

    private void force(IncrementFile current) {
        long begin = ticker.nanoTime();
        try {
            current.force();
        } catch (IOException failed) {
            if (sync == Sync.ALWAYS) {
                // The system may have dropped the pages: another force would succeed and have written nothing.
                ended = true;
                fatal.accept("the log could not be forced to disk: " + FailureReason.of(failed));
                return;
            }
            forceFails = true;
            failed(failed);
            forcedNanos = ticker.nanoTime();
            return;
        }
        if (forceFails) {
            forceFails = false;
            // Again the dropped pages: the next base has what they had.
            rewriteScheduled = true;
        }
        recovered();
        forcedNanos = ticker.nanoTime();
        timings.forced(forcedNanos - begin, sync == Sync.ALWAYS);
        durable = written;
        waiters.run(written);
    }

    private synchronized void failed(IOException reason) {
        if (failure == null) {
            LOG.error("The log in {} cannot be written; writes are refused until it can", directory, reason);
        }
        failure = FailureReason.of(reason);
        notifyAll();
        stream.wakeWaiters();
    }

    private void recovered() {
        if (failure != null && !writeFails && !forceFails) {
            LOG.warn("The log in {} can be written again", directory);
            failure = null;
        }
    }

    private void closeFiles() {
        close(file);
        close(created);
        file = null;
        created = null;
    }

    private void close(@Nullable IncrementFile open) {
        if (open != null) {
            try {
                open.close();
            } catch (IOException failed) {
                LOG.warn("A file of the log in {} could not be closed", directory, failed);
            }
        }
    }

    // --- rewriting

    /** Where the next base is to be written, before {@link #replaceBase}. */
    public synchronized Path temporaryBase() {
        return directory.resolve("temp-rewriteaof-" + ProcessHandle.current().pid() + ".rdb");
    }

    /**
     * Replaces the base, and drops the increments that it contains.
     *
     * @param written the complete base, on disk, in the log's directory
     * @param cut where the first increment begins that it does not contain: the result of {@link ChangeStream#cut}
     * @throws IOException if the log cannot be changed; it is as before then
     */
    public void replaceBase(Path written, long cut) throws IOException {
        delete(replace(written, cut));
    }

    /** Deletes files that no manifest lists any more. */
    private void delete(List<String> superseded) {
        for (String old : superseded) {
            try {
                disk.delete(directory.resolve(old));
            } catch (IOException failed) {
                LOG.warn("{} is no longer needed, and could not be deleted", directory.resolve(old), failed);
            }
        }
    }

    /** @return the files that are no longer needed */
    private synchronized List<String> replace(Path written, long cut) throws IOException {
        awaitFile(cut);
        long sequence = ++lastBase;
        LogManifest.Entry base = LogManifest.Entry.base(name, sequence);
        disk.move(written, directory.resolve(base.name()));
        disk.forceDirectory(directory);
        LogManifest changed = manifest.with(base, manifest.lastIncrement());
        changed.write(disk, directory, name);
        List<String> superseded = new ArrayList<>(isComplete ? manifest.names() : obsolete);
        superseded.removeAll(changed.names());
        manifest = changed;
        isComplete = true;
        obsolete = List.of();
        baseBytes = disk.size(directory.resolve(base.name()));
        closedBytes = baseBytes;
        rewrittenBytes = baseBytes;
        return superseded;
    }

    private void awaitFile(long cut) throws IOException {
        boolean interrupted = false;
        while (fileStart < cut && failure == null && isRunning()) {
            try {
                wait(WAIT_MILLIS);
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (fileStart < cut || !isRunning()) {
            throw new IOException(failure == null ? "the log was closed" : failure);
        }
    }

    private boolean isRunning() {
        Thread running = thread;
        return running != null && running.isAlive();
    }

    // --- figures

    /** Whether a rewrite waits for the end of a snapshot. */
    public boolean isRewriteScheduled() {
        return rewriteScheduled;
    }

    /** See {@link #isRewriteScheduled()}. */
    public void rewriteScheduled(boolean value) {
        rewriteScheduled = value;
    }

    /** How long the disk takes. */
    public LogTimings timings() {
        return timings;
    }

    /** The size of all files, in bytes. */
    public long bytes() {
        return isOpen() ? closedBytes + fileBytes : 0;
    }

    /** Bytes of the stream that are not written yet. */
    public long pendingBytes() {
        return stream.pendingBytes();
    }

    /** Their size after the last rewrite, or at the start. */
    public long rewrittenBytes() {
        return rewrittenBytes;
    }

    /** The size of the base. */
    public long baseBytes() {
        return baseBytes;
    }
}
