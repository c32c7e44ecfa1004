package io.varve.server;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.memory.Cache;
import io.varve.server.command.ServerContext;
import io.varve.server.net.NetworkServer;
import io.varve.server.system.TimeSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that expires, cleans and frees, slice by slice. Its loop is confined to that thread; close from any. */
final class Maintenance implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** So long it works, and so long it then sleeps at the least (the system makes it some 50 µs more), while there is work. */
    private static final long WORK_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long REST_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** After a failed round: not at once again... */
    private static final long PAUSE_AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** ... and one of a kind is told about once in so long, so that what fails again and again fills no disk with its log. */
    private static final long QUIET_AFTER_FAILURE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Cache cache;
    private final NetworkServer network;
    private final ServerContext server;
    private final Thread thread;
    private final TimeSlice slice;
    private volatile boolean stopped;
    private boolean prepared;
    private long checkedNanos = System.nanoTime();
    private long sampledNanos = checkedNanos;
    /** When it last did; the thread's own, as is what follows. */
    private long gaveWay;
    private long failures;
    private @Nullable Class<?> reported;
    private long reportedNanos;

    private Maintenance(Cache cache, NetworkServer network, ServerContext server) {
        this.cache = cache;
        this.network = network;
        this.server = server;
        slice = new TimeSlice(server.config().number("io-thread-slice-us"));
        thread = Thread.ofPlatform().name("varve-maintenance").daemon().unstarted(this::loop);
    }

    static Maintenance start(Cache cache, NetworkServer network, ServerContext server) {
        Maintenance maintenance = new Maintenance(cache, network, server);
        maintenance.thread.start();
        return maintenance;
    }

    private void loop() {
        // An event loop that finds a shard locked waits for this thread, so it must get a core as soon as an event loop would
        // (decision 12), not after who happens to run beside it: the JIT, for instance.
        LOG.debug("A time slice of its own: {}", slice.apply());
        while (!stopped) {
            long idleNanos;
            try {
                prepare();
                idleNanos = cache.maintain(this::giveWay);
                server.lookAfterTold();
            } catch (RuntimeException | Error failed) {
                // Whatever it was, memory that the system refuses too: without this thread nothing would ever expire again.
                report(failed, System.nanoTime());
                idleNanos = PAUSE_AFTER_FAILURE_NANOS;
            }
            try {
                lookAround(System.nanoTime());
            } catch (RuntimeException | Error failed) {
                // Connections and samples are looked at whatever happens to the items, and the other way round.
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
            LOG.error("A round of maintenance failed, the {}. since the start", failures, failed);
        }
    }

    /** Once: so that the client that asks first does not wait until the report's classes are loaded. */
    private void prepare() {
        if (!prepared) {
            prepared = true;
            server.report().write(List.of());
        }
    }

    private void lookAround(long now) {
        if (now - sampledNanos >= SAMPLE_NANOS) {
            sampledNanos = now;
            server.report().sample(now);
            server.hiccups().follow(server.config().latencyThresholdMillis() > 0);
        }
        if (now - checkedNanos >= CHECK_NANOS) {
            checkedNanos = now;
            network.checkConnections();
        }
    }

    /**
     * Between two slices of work, with no lock held. On few cores the system lets a thread that works go on for some
     * milliseconds before an event loop that has woken meanwhile gets the core, and that loop would then find the lock taken
     * again. So this thread sleeps a little, as soon as it has worked a little.
     */
    private void giveWay() {
        // What has expired or was evicted under the lock, so that little is held back.
        server.tell();
        if (System.nanoTime() - gaveWay >= WORK_NANOS) {
            LockSupport.parkNanos(this, REST_NANOS);
            gaveWay = System.nanoTime();
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
        server.hiccups().follow(false);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
