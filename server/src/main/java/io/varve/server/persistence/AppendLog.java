package io.varve.server.persistence;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.varve.memory.item.Ticker;
import io.varve.server.persistence.ChangeStream.Section;
import io.varve.server.system.FailureReason;
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
    private final LogFiles files;
    private final Ticker ticker;
    private final long retryNanos;
    private final Consumer<String> fatal;
    private final DurabilityWaiters waiters = new DurabilityWaiters();
    /** Those that wait for a force also if the replies do not. */
    private final DurabilityWaiters forceWaiters = new DurabilityWaiters();
    private final LogTimings timings = new LogTimings();
    private volatile @Nullable Thread thread;
    private volatile Sync sync = Sync.EVERYSEC;
    private volatile boolean stamped;
    private volatile boolean holding;
    private volatile boolean rewriteScheduled;
    private volatile boolean closing;
    private volatile long durable;
    private volatile @Nullable String failure;

    /** The offset at which the file that is being written begins. Guarded by this. */
    private long fileStart = -1;

    // Confined to the thread.
    private @Nullable IncrementFile file;
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
        files = new LogFiles(disk);
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

    /** Whether a start would find the changes up to this offset: they are on disk, and so is the first base. */
    public boolean isForced(long offset) {
        return isOpen() && isComplete() && durable >= offset;
    }

    /** Runs an action once {@link #isForced}, or the log ends; on any thread, perhaps at once. */
    public void whenForced(long offset, Runnable action) {
        forceWaiters.add(offset, action);
        if (isForced(offset) || !isOpen()) {
            forceWaiters.run(offset);
        }
    }

    /** Forgets an action of {@link #whenForced}. */
    public void cancelForced(Runnable action) {
        forceWaiters.cancel(action);
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
        return files.isComplete();
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
        files.open(into, fileName, loaded);
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
    public void lock(Path wanted) throws IOException {
        files.lock(wanted);
    }

    /**
     * Detaches itself from the stream, writes and forces what was appended, and ends; then no reply waits, and no write
     * is refused.
     */
    @Override
    public void close() {
        Thread ending = thread;
        if (ending == null) {
            files.unlock();
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
        files.unlock();
        // Changes that are lost too: from here on nobody is promised that a change is on disk.
        waiters.run(Long.MAX_VALUE);
        forceWaiters.run(Long.MAX_VALUE);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // --- the thread

    private void run() {
        try {
            while (true) {
                // ORDER: read before the stream is found empty: nothing is appended after it is set.
                boolean isLast = closing;
                boolean hasWritten = writeNext();
                forceIfDue();
                if (ended || isLast && !hasWritten) {
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
            files.closeIncrements(file);
            file = null;
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
            LOG.error("{} bytes of changes are lost: they could not be written to {}", section.bytes,
                    files.directory());
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

    private synchronized void startFile(long start) throws IOException {
        IncrementFile before = file;
        if (before != null && before.isUnforced()) {
            before.force();
            forceSucceeded();
        }
        IncrementFile next = files.next(before);
        file = next;
        fileBytes = next.bytes();
        fileStart = start;
        notifyAll();
        reached(start);
    }

    private void forceIfDue() {
        IncrementFile current = file;
        if (ended) {
            return;
        }
        if (current == null || !current.isUnforced()) {
            // The commands since the last force were for replicas only, or the first file is not begun yet.
            reached(written);
            return;
        }
        boolean isDue = closing || switch (sync) {
            case ALWAYS -> true;
            case EVERYSEC -> ticker.nanoTime() - forcedNanos >= SECOND;
            // Writes are refused until one succeeds.
            case NO -> forceFails && ticker.nanoTime() - forcedNanos >= SECOND;
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
        forceSucceeded();
        recovered();
        forcedNanos = ticker.nanoTime();
        timings.forced(forcedNanos - begin, sync == Sync.ALWAYS);
        reached(written);
    }

    private void reached(long offset) {
        if (durable != offset) {
            durable = offset;
            waiters.run(offset);
            runForceWaiters();
        }
    }

    private void runForceWaiters() {
        if (isComplete()) {
            forceWaiters.run(durable);
        }
    }

    private void forceSucceeded() {
        if (forceFails) {
            forceFails = false;
            // The system may have dropped pages of the force that failed: the next base has what they had.
            rewriteScheduled = true;
        }
    }

    private synchronized void failed(IOException reason) {
        if (failure == null) {
            LOG.error("The log in {} cannot be written; writes are refused until it can", files.directory(), reason);
        }
        failure = FailureReason.of(reason);
        notifyAll();
        stream.wakeWaiters();
    }

    private void recovered() {
        if (failure != null && !writeFails && !forceFails) {
            LOG.warn("The log in {} can be written again", files.directory());
            failure = null;
        }
    }

    // --- rewriting

    /** Where the next base is to be written, before {@link #replaceBase}. */
    public Path temporaryBase() {
        return files.temporaryBase();
    }

    /**
     * Replaces the base, and drops the increments that it contains.
     *
     * @param written the complete base, on disk, in the log's directory
     * @param cut where the first increment begins that it does not contain: the result of {@link ChangeStream#cut}
     * @throws IOException if the log cannot be changed; it is as before then
     */
    public void replaceBase(Path written, long cut) throws IOException {
        Collection<String> old = replace(written, cut);
        runForceWaiters();
        files.delete(old);
    }

    /** @return the files that are no longer needed */
    private synchronized Collection<String> replace(Path written, long cut) throws IOException {
        awaitFile(cut);
        return files.replaceBase(written);
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
        return isOpen() ? files.closedBytes() + fileBytes : 0;
    }

    /** Bytes of the stream that are not written yet. */
    public long pendingBytes() {
        return stream.pendingBytes();
    }

    /** Their size after the last rewrite, or at the start. */
    public long rewrittenBytes() {
        return files.rewrittenBytes();
    }

    /** The size of the base. */
    public long baseBytes() {
        return files.baseBytes();
    }
}
