package io.varve.server.command.persistence;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.SaveRules;
import io.varve.server.persistence.SnapshotFile;
import io.varve.server.persistence.SnapshotStatus;
import io.varve.server.persistence.Snapshots;
import io.varve.server.system.FailureReason;
import io.varve.server.system.TimeSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves snapshots on a thread that lives as long as the save. Guarded by its own monitor, under which it takes no other
 * lock, since a caller may hold shards; the rules are volatile.
 *
 * <p>Rewriting the log is a task of this thread too: a scan excludes another one.
 */
public final class SnapshotSaver implements Snapshots {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotSaver.class);
    /** Seconds between two attempts by the rules after a failure, as in Redis. */
    private static final long RETRY_SECONDS = 5;

    private final ServerState server;
    private final SnapshotStatus status;
    private final List<Consumer<@Nullable String>> requested = new ArrayList<>();
    private @Nullable Thread thread;
    /** Whether no save begins any more but that of {@link #close}. */
    private boolean closing;
    private @Nullable Boolean shutdownSaves;
    private volatile SaveRules rules;
    private volatile boolean cancelled;

    public SnapshotSaver(ServerState server) {
        this.server = server;
        status = server.telemetry().snapshots();
        rules = rules(server.config());
        server.onConfig((changed, _) -> {
            SaveRules prepared = rules(changed);
            return () -> rules = prepared;
        });
    }

    private static SaveRules rules(ServerConfig config) {
        return SaveRules.of(config.text("save"));
    }

    /** The snapshot file of a configuration. */
    static Path file(ServerConfig config) {
        return Path.of(config.text("dir"), config.text("dbfilename"));
    }

    // --- begin and end

    @Override
    public boolean start(Consumer<@Nullable String> onEnd) {
        return start(true, () -> {}, onEnd);
    }

    @Override
    public synchronized boolean start(boolean saves, Task then, Consumer<@Nullable String> onEnd) {
        return !closing && begin(saves, then, onEnd);
    }

    private synchronized boolean begin(boolean saves, Task then, Consumer<@Nullable String> onEnd) {
        if (thread != null || saves && server.load().isLoading()) {
            return false;
        }
        Thread begun = Thread.ofPlatform().name("varve-snapshot").daemon().unstarted(() -> run(saves, then, onEnd));
        // A client that asks right after the reply is told that it runs.
        if (saves) {
            status.begun(server.telemetry().changes());
        }
        then.begins();
        try {
            begun.start();
        } catch (OutOfMemoryError noThread) {
            LOG.error("No snapshot can be saved: the system has no thread for it", noThread);
            reportFree();
            return false;
        }
        thread = begun;
        return true;
    }

    @Override
    public synchronized void request(Consumer<@Nullable String> onEnd) {
        if (start(onEnd)) {
            return;
        }
        if (closing) {
            onEnd.accept("the server is closing");
        } else {
            requested.add(onEnd);
        }
    }

    private void run(boolean saves, Task then, Consumer<@Nullable String> onEnd) {
        // An event loop that finds a shard locked may wait for this thread, as for maintenance (decision 12).
        LOG.debug("The system accepted the time slice of the snapshot thread: {}",
                new TimeSlice(server.config().number("io-thread-slice-us")).apply());
        String failure = null;
        try {
            if (saves) {
                saveAndReport();
            }
            then.run();
        } catch (Exception | Error failed) {
            failure = FailureReason.of(failed);
            LOG.warn("The snapshot failed; the previous file, if any, is unchanged", failed);
        }
        end();
        onEnd.accept(failure);
    }

    private synchronized void end() {
        thread = null;
        reportFree();
        notifyAll();
        if (!requested.isEmpty()) {
            List<Consumer<@Nullable String>> all = List.copyOf(requested);
            requested.clear();
            if (!start(failure -> all.forEach(each -> each.accept(failure)))) {
                all.forEach(each -> each.accept("the server is closing"));
            }
        }
    }

    private void reportFree() {
        status.ended();
        server.telemetry().logRewrites().ended();
    }

    // --- save

    private void saveAndReport() throws IOException {
        boolean saved = false;
        try {
            save();
            saved = true;
        } finally {
            if (saved) {
                status.succeeded(nowSeconds());
            } else {
                status.failed(nowSeconds());
            }
        }
    }

    private long nowSeconds() {
        return TimeUnit.MILLISECONDS.toSeconds(server.ticker().wallMillis());
    }

    private void save() throws IOException {
        SnapshotWriter writer = new SnapshotWriter(server, status,
                () -> SnapshotFile.create(file(server.config())), false, this::isCancelled);
        // Changes from here on may be missing in the file, and count as not saved.
        writer.write(() -> status.covers(server.telemetry().changes()), () -> {});
    }

    // --- rules and shutdown

    @Override
    public void saveIfDue() {
        SaveRules now = rules;
        if (!now.any() || status.isSaving()) {
            return;
        }
        long nowSeconds = nowSeconds();
        long changes = status.changesSinceSave(server.telemetry().changes());
        boolean mayRetry = !status.hasFailed() || nowSeconds - status.lastAttemptSeconds() > RETRY_SECONDS;
        if (mayRetry && now.isDue(nowSeconds - status.lastSaveSeconds(), changes)) {
            LOG.info("{} changes in {} s: saving a snapshot", changes, nowSeconds - status.lastSaveSeconds());
            start(_ -> {});
        }
    }

    @Override
    public boolean savesAtShutdown() {
        return rules.any();
    }

    @Override
    public synchronized void atShutdown(boolean saves) {
        shutdownSaves = saves;
    }

    @Override
    public void abandon() {
        synchronized (this) {
            closing = true;
            shutdownSaves = false;
        }
        cancelled = true;
    }

    private synchronized boolean savesNow() {
        return shutdownSaves == null ? rules.any() : shutdownSaves;
    }

    @Override
    public boolean isCancelled() {
        return cancelled;
    }

    @Override
    public void close() {
        synchronized (this) {
            closing = true;
        }
        cancelled = true;
        awaitEnd();
        cancelled = false;
        boolean isNeeded = status.changesSinceSave(server.telemetry().changes()) > 0 || !status.hasSaved();
        if (savesNow() && isNeeded && begin(true, () -> {}, _ -> {})) {
            awaitEnd();
        }
        if (begin(false, server.logLifecycle()::complete, _ -> {})) {
            awaitEnd();
        }
    }

    private void awaitEnd() {
        boolean interrupted = false;
        synchronized (this) {
            while (thread != null) {
                try {
                    wait();
                } catch (InterruptedException again) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
