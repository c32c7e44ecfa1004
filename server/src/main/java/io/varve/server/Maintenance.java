package io.varve.server;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.memory.Cache;
import io.varve.server.admin.InfoReport;
import io.varve.server.net.NetworkServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that expires, cleans and frees, slice by slice. Its loop is confined to that thread; close from any. */
final class Maintenance implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** After a failed slice: not at once again, so that a bug fills no disk with its log. */
    private static final long PAUSE_AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Cache cache;
    private final NetworkServer network;
    private final InfoReport report;
    private final Thread thread;
    private volatile boolean stopped;
    private long checkedNanos = System.nanoTime();
    private long sampledNanos = checkedNanos;

    private Maintenance(Cache cache, NetworkServer network, InfoReport report) {
        this.cache = cache;
        this.network = network;
        this.report = report;
        thread = Thread.ofPlatform().name("varve-maintenance").daemon().unstarted(this::loop);
    }

    static Maintenance start(Cache cache, NetworkServer network, InfoReport report) {
        Maintenance maintenance = new Maintenance(cache, network, report);
        maintenance.thread.start();
        return maintenance;
    }

    private void loop() {
        while (!stopped) {
            long idleNanos;
            try {
                idleNanos = cache.maintain();
                lookAround(System.nanoTime());
            } catch (RuntimeException | Error failed) {
                // Whatever it was, memory that the system refuses too: without this thread nothing would ever expire again.
                LOG.error("A slice of maintenance failed", failed);
                idleNanos = PAUSE_AFTER_FAILURE_NANOS;
            }
            if (idleNanos > 0) {
                LockSupport.parkNanos(this, Math.min(idleNanos, SAMPLE_NANOS));
            }
        }
    }

    private void lookAround(long now) {
        if (now - sampledNanos >= SAMPLE_NANOS) {
            sampledNanos = now;
            report.sample(now);
        }
        if (now - checkedNanos >= CHECK_NANOS) {
            checkedNanos = now;
            network.checkConnections();
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
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
