package io.varve.server.command.persistence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.server.command.ConfigListener;
import io.varve.server.command.ServerState;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.AppendLog;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.persistence.LogLifecycle;
import io.varve.server.persistence.LogManifest;
import io.varve.server.persistence.RecordedRemovals;
import io.varve.server.persistence.SnapshotFile;
import io.varve.server.persistence.SnapshotStatus;
import io.varve.server.persistence.Snapshots;
import io.varve.server.system.FailureReason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns the log on and off as the settings say, and rewrites it. Thread-safe: its parts guard themselves.
 */
public final class LogControl implements LogLifecycle {
    private static final Logger LOG = LoggerFactory.getLogger(LogControl.class);
    /** Seconds between two attempts after a failure. */
    private static final long RETRY_SECONDS = 5;
    private static final int PERCENT = 100;

    private final ServerState server;
    private final ChangeStream changes;
    private final AppendLog log;
    private final RecordedRemovals removals;
    private final SnapshotStatus status;
    /** How often the flash tier has lost all of its keys, and how often by the time that the base covers. */
    private final AtomicLong losses = new AtomicLong();
    private volatile long coveredLosses;
    /** Whether the base still has data that was replaced. */
    private volatile boolean isBehind;

    public LogControl(ServerState server) {
        this.server = server;
        changes = server.changes();
        log = server.log();
        removals = server.removals();
        removals.onLoss(() -> {
            if (log.isOpen()) {
                losses.incrementAndGet();
            }
        });
        status = server.telemetry().logRewrites();
        configure(server.config());
        server.onConfig((changed, _) -> prepare(changed));
    }

    /** The directory of the log. */
    public static Path directory(ServerConfig config) {
        return Path.of(config.text("dir"), config.text("appenddirname"));
    }

    private void configure(ServerConfig config) {
        log.sync(AppendLog.Sync.valueOf(config.text("appendfsync").toUpperCase(Locale.ROOT)));
        log.stamped(config.bool("aof-timestamp-enabled"));
    }

    // --- settings

    private ConfigListener.Change prepare(ServerConfig changed) {
        boolean turnsOn = changed.bool("appendonly") && !log.isOpen();
        boolean turnsOff = !changed.bool("appendonly") && log.isOpen();
        if ((turnsOn || turnsOff) && status.isSaving()) {
            throw new ConfigException("appendonly: the log is being rewritten; try again when"
                    + " aof_rewrite_in_progress in INFO is 0");
        }
        if (turnsOn) {
            openOrRefuse(changed);
        }
        return new ConfigListener.Change() {
            @Override
            public void apply() {
                configure(changed);
                if (turnsOff) {
                    close();
                } else if (turnsOn) {
                    rewrite();
                }
            }

            @Override
            public void undo() {
                if (turnsOn) {
                    close();
                }
            }
        };
    }

    private void openOrRefuse(ServerConfig config) {
        try {
            openFiles(config, null);
        } catch (IOException failed) {
            // It may have the directory's lock already.
            log.close();
            throw new ConfigException("appendonly yes: " + FailureReason.of(failed));
        }
    }

    private void openFiles(ServerConfig config, @Nullable LogManifest loaded) throws IOException {
        log.lock(directory(config));
        log.open(directory(config), config.text("appendfilename"), loaded);
        removals.use(this);
    }

    @Override
    public void open(@Nullable LogManifest loaded) throws IOException {
        openFiles(server.config(), loaded);
        if (loaded != null) {
            changes.cut();
            return;
        }
        CompletableFuture<@Nullable String> done = new CompletableFuture<>();
        boolean started = server.snapshots().start(false, this::complete, done::complete);
        String failure = started ? done.join() : "a snapshot is being saved";
        if (failure != null) {
            close();
            throw new IOException(directory(server.config()) + ": the log cannot be begun: " + failure);
        }
    }

    @Override
    public void close() {
        log.rewriteScheduled(false);
        log.close();
        isBehind = false;
        coveredLosses = losses.get();
        removals.disuse(this);
    }

    // --- rewriting

    @Override
    public Result rewrite() {
        if (!log.isOpen()) {
            return Result.CLOSED;
        }
        if (status.isSaving()) {
            return Result.RUNNING;
        }
        if (server.snapshots().start(false, new Rewrite(), _ -> {})) {
            return Result.STARTED;
        }
        log.rewriteScheduled(true);
        return Result.SCHEDULED;
    }

    @Override
    public void rewriteIfDue() {
        if (!log.isOpen() || status.isSaving()) {
            return;
        }
        long nowSeconds = TimeUnit.MILLISECONDS.toSeconds(server.ticker().wallMillis());
        boolean mayRetry = !status.hasFailed() || nowSeconds - status.lastAttemptSeconds() > RETRY_SECONDS;
        if (mayRetry && (log.isRewriteScheduled() || mustRewrite() || hasGrown())) {
            rewrite();
        }
    }

    @Override
    public boolean hasLostKeys() {
        return losses.get() != coveredLosses;
    }

    private boolean hasGrown() {
        long percentage = server.config().number("auto-aof-rewrite-percentage");
        long bytes = log.bytes();
        long before = Math.max(1, log.rewrittenBytes());
        return percentage > 0 && bytes > server.config().number("auto-aof-rewrite-min-size")
                && (bytes - before) * PERCENT / before >= percentage;
    }

    /** Whether a start would not find the present data in the log. */
    private boolean mustRewrite() {
        return !log.isComplete() || hasLostKeys() || isBehind;
    }

    private boolean isCancelled() {
        return !mustRewrite() && server.snapshots().isCancelled();
    }

    @Override
    public void complete() throws IOException {
        if (log.isOpen() && mustRewrite()) {
            writeBase();
        }
    }

    @Override
    public void replaceData(Runnable flush, Snapshots.Task load) throws Exception {
        isBehind = log.isOpen();
        try {
            removals.withoutFlushes(flush);
            load.run();
        } catch (Exception | Error failed) {
            server.replicas().beginAnew();
            try {
                complete();
            } catch (IOException alsoFailed) {
                failed.addSuppressed(alsoFailed);
            }
            throw failed;
        }
        server.replicas().beginAnew();
        complete();
    }

    /** A rewrite by itself, not as a part of another task. */
    private final class Rewrite implements Snapshots.Task {
        @Override
        public void begins() {
            status.begun(0);
        }

        @Override
        public void run() throws IOException {
            writeBase();
        }
    }

    private void writeBase() throws IOException {
        if (!log.isOpen()) {
            throw new IOException("appendonly was set to no");
        }
        boolean wasScheduled = log.isRewriteScheduled();
        log.rewriteScheduled(false);
        status.begun(0);
        boolean done = false;
        Path base = log.temporaryBase();
        try {
            long[] cut = new long[1];
            long[] covered = new long[1];
            new SnapshotWriter(server, status, () -> SnapshotFile.create(base), true, this::isCancelled).write(() -> {},
                    () -> {
                        cut[0] = changes.cut();
                        covered[0] = losses.get();
                    });
            log.replaceBase(base, cut[0]);
            coveredLosses = covered[0];
            isBehind = false;
            done = true;
        } finally {
            long nowSeconds = TimeUnit.MILLISECONDS.toSeconds(server.ticker().wallMillis());
            if (done) {
                status.succeeded(nowSeconds);
                LOG.info("The log was rewritten: {} bytes", log.baseBytes());
            } else {
                status.failed(nowSeconds);
                if (wasScheduled) {
                    log.rewriteScheduled(true);
                }
                Files.deleteIfExists(base);
            }
        }
    }
}
