package io.varve.server;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.memory.Cache;
import io.varve.server.command.ServerState;
import io.varve.server.net.NetworkServer;
import io.varve.server.system.TimeSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that expires items, cleans segments and frees memory, slice by slice. Confined to that thread, except
 * {@link #close}, which any thread may call.
 */
final class Maintenance implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /**
     * The longest stretch of work, and the shortest sleep after it while there is work; the system adds about 50 µs to
     * a sleep.
     */
    private static final long WORK_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long REST_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** The pause after a failed round. */
    private static final long PAUSE_AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /**
     * Minimum interval between two log entries about one kind of failure, so that a repeated failure does not fill the
     * disk with its log.
     */
    private static final long QUIET_AFTER_FAILURE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Cache cache;
    private final NetworkServer network;
    private final ServerState server;
    private final Thread thread;
    private final TimeSlice slice;
    private volatile boolean stopped;
    private boolean prepared;
    private long checkedNanos = System.nanoTime();
    private long sampledNanos = checkedNanos;
    /** The time of the last yield. Confined to the maintenance thread, as are the fields below. */
    private long lastYieldNanos;
    private long failures;
    private @Nullable Class<?> reported;
    private long reportedNanos;

    private Maintenance(Cache cache, NetworkServer network, ServerState server) {
        this.cache = cache;
        this.network = network;
        this.server = server;
        slice = new TimeSlice(server.config().number("io-thread-slice-us"));
        thread = Thread.ofPlatform().name("varve-maintenance").daemon().unstarted(this::loop);
    }

    static Maintenance start(Cache cache, NetworkServer network, ServerState server) {
        Maintenance maintenance = new Maintenance(cache, network, server);
        maintenance.thread.start();
        return maintenance;
    }

    private void loop() {
        // An event loop that finds a shard locked waits for this thread. So it must get a core as soon as an event loop
        // would (decision 12), before other threads such as the JIT compiler's.
        LOG.debug("The system accepted the time slice of the maintenance thread: {}", slice.apply());
        while (!stopped) {
            long idleNanos;
            try {
                prepare();
                idleNanos = cache.maintain(this::pause);
                server.notifications().maintain();
            } catch (RuntimeException | Error failed) {
                // Any failure, including a system that refuses memory: without this thread nothing would ever expire
                // again.
                report(failed, System.nanoTime());
                idleNanos = PAUSE_AFTER_FAILURE_NANOS;
            }
            try {
                checkState(System.nanoTime());
            } catch (RuntimeException | Error failed) {
                // Connections and samples are checked even if the items failed, and vice versa.
                report(failed, System.nanoTime());
                idleNanos = PAUSE_AFTER_FAILURE_NANOS;
            }
            if (idleNanos > 0) {
                LockSupport.parkNanos(this, Math.min(idleNanos, SAMPLE_NANOS));
            }
        }
    }

    private void report(Throwable failed, long now) {
        failures++;
        boolean another = !failed.getClass().equals(reported);
        if (another || now - reportedNanos >= QUIET_AFTER_FAILURE_NANOS) {
            reported = failed.getClass();
            reportedNanos = now;
            LOG.error("Maintenance round failed ({} failures since the start)", failures, failed);
        }
    }

    /** Runs once, so that the first client that requests the report does not wait for its classes to load. */
    private void prepare() {
        if (!prepared) {
            prepared = true;
            server.telemetry().report().write(List.of());
        }
    }

    private void checkState(long now) {
        if (now - sampledNanos >= SAMPLE_NANOS) {
            sampledNanos = now;
            server.telemetry().report().sample(now);
            server.pause().endIfDue();
            server.snapshots().saveIfDue();
            server.logLifecycle().rewriteIfDue();
            server.replicas().tick();
            server.role().tick();
            server.telemetry().hiccups().follow(server.config().latencyThresholdMillis() > 0);
        }
        if (now - checkedNanos >= CHECK_NANOS) {
            checkedNanos = now;
            network.checkConnections();
        }
    }

    /**
     * Yields between two slices of work, with no lock held. On few cores the system lets a working thread continue for
     * some milliseconds before a woken event loop gets the core, and this thread would then hold the lock
     * again. So this thread sleeps briefly after each short stretch of work.
     */
    private void pause() {
        // Publishes expirations and evictions that occurred under the lock, so that few are queued.
        server.notifications().flush();
        if (System.nanoTime() - lastYieldNanos >= WORK_NANOS) {
            LockSupport.parkNanos(this, REST_NANOS);
            lastYieldNanos = System.nanoTime();
        }
    }

    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        server.telemetry().hiccups().follow(false);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
