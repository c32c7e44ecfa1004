package io.varve.server.recovery;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;

import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.persistence.LoadMemory;
import io.varve.server.command.persistence.LogControl;
import io.varve.server.command.persistence.SnapshotLoader;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.persistence.LogManifest;
import io.varve.server.persistence.LogReader;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.rdb.RdbReader;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the data at the start: with {@code appendonly yes} the log, or, if there is none yet, the snapshot; else the
 * snapshot. Then begins to log. Confined to the thread that starts the server, or that loads the log again.
 */
public final class Recovery {
    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);
    private static final double NANOS_PER_SECOND = 1e9;
    private static final long PROGRESS_NANOS = 5_000_000_000L;
    private static final long BEFORE_ALL_EXPIRY = 1;

    private final ServerState server;
    private final CommandTable table;
    private final ServerConfig config;
    private final Path directory;
    private final String name;
    private long reportAt;
    private boolean keepsStatistics;

    private Recovery(ServerState server, CommandTable table) {
        this.server = server;
        this.table = table;
        config = server.config();
        directory = LogControl.directory(config);
        name = config.text("appendfilename");
    }

    /**
     * Reserves the directory of the log for this process, if there is to be a log.
     *
     * @throws IOException if another process has it, or it cannot be written
     * @throws ConfigException if the settings exclude each other
     */
    public static void prepare(ServerState server) throws IOException {
        if (!server.config().bool("appendonly")) {
            return;
        }
        if (!(server.cache().config().ticker() instanceof ReplayClock)) {
            throw new ConfigException("appendonly yes: expected a cache that was opened with a ReplayClock, so that"
                    + " the commands of the log can run again at their times");
        }
        server.log().lock(LogControl.directory(server.config()));
    }

    /**
     * Loads what the settings name, and opens the log. {@link #prepare} comes first.
     *
     * @throws IOException if it cannot be loaded as a whole: the server must not start with a part of the data
     * @throws ConfigException if the settings exclude each other
     */
    public static void run(ServerState server, CommandTable table) throws IOException {
        if (!server.config().bool("appendonly")) {
            SnapshotLoader.loadAtStart(server);
            return;
        }
        new Recovery(server, table).loadLog();
    }

    /**
     * Loads the log in place of all data (DEBUG LOADAOF). Clients are refused meanwhile. On the thread that saves
     * snapshots, without replicas.
     *
     * @throws IOException if it cannot be loaded as a whole: the data is then a part of it, and is not logged
     */
    public static void reload(ServerState server, CommandTable table) throws IOException {
        if (!(server.cache().config().ticker() instanceof ReplayClock)) {
            throw new IOException("expected a cache that was opened with a ReplayClock");
        }
        server.load().begin();
        try {
            server.awaitOlderCommands();
            server.logLifecycle().close();
            server.cache().flushAll();
            Recovery recovery = new Recovery(server, table);
            recovery.keepsStatistics = true;
            recovery.loadLog();
        } finally {
            server.load().end();
        }
    }

    /** Whether a start with these settings loads its data from a file, so that the flash tier has to be empty. */
    public static boolean loadsFile(ServerConfig config) {
        Path log = LogControl.directory(config);
        String name = config.text("appendfilename");
        boolean isLogged = config.bool("appendonly") && (Files.exists(LogManifest.file(log, name))
                || Files.isRegularFile(log.resolve(name)) || Files.isRegularFile(Path.of(config.text("dir"), name)));
        return isLogged || Files.exists(SnapshotLoader.file(config));
    }

    private void loadLog() throws IOException {
        LogManifest manifest = manifest();
        if (manifest == null) {
            SnapshotLoader.loadAtStart(server);
            server.logLifecycle().open(null);
            return;
        }
        // Commands that have run once must not fail, nor evict what later ones need: as in Redis, there is no limit.
        LoadMemory memory = LoadMemory.begin(server);
        LogManifest loaded = load(manifest, memory);
        memory.endLoad();
        server.logLifecycle().open(loaded);
        // Items that do not fit are evicted, and the evictions are logged.
        memory.restoreLimit();
    }

    /** The manifest of the log; null if there is none. */
    private @Nullable LogManifest manifest() throws IOException {
        Path file = LogManifest.file(directory, name);
        if (Files.exists(file)) {
            return LogManifest.read(file);
        }
        Path old = Path.of(config.text("dir"), name);
        Path moved = directory.resolve(name);
        if (!Files.isRegularFile(old) && !Files.isRegularFile(moved)) {
            return null;
        }
        // A log of Redis before version 7: as in Redis 7, it becomes the base.
        if (!Files.isRegularFile(moved)) {
            Files.move(old, moved, StandardCopyOption.ATOMIC_MOVE);
        }
        LogManifest upgraded = new LogManifest(new LogManifest.Entry(name, 1), List.of());
        upgraded.write(directory, name);
        LOG.info("{} has become the base of the log in {}", old, directory);
        return upgraded;
    }

    private ReplayClock clock() {
        return (ReplayClock) server.cache().config().ticker();
    }

    /** @return the manifest without the last increments that have no command: one that begins now takes their place */
    private LogManifest load(LogManifest manifest, LoadMemory memory) throws IOException {
        long start = server.ticker().nanoTime();
        reportAt = start + PROGRESS_NANOS;
        ReplayClock clock = clock();
        long commands = 0;
        long torn = 0;
        long refused;
        int empty = 0;
        clock.stopAt(BEFORE_ALL_EXPIRY);
        try (LogReplay replay = new LogReplay(server, table, clock, memory)) {
            List<String> names = manifest.names();
            long total = 0;
            for (String each : names) {
                total += Files.size(directory.resolve(each));
            }
            server.load().expects(total);
            for (int i = 0; i < names.size(); i++) {
                Path file = directory.resolve(names.get(i));
                LogReader reader = load(replay, memory, file, i == names.size() - 1);
                commands += reader.commands();
                empty = reader.commands() == 0 ? empty + 1 : 0;
                server.load().fileDone();
                if (reader.tornBytes() > 0) {
                    torn += reader.tornBytes();
                    cut(file, reader);
                }
            }
            refused = replay.refused();
        } finally {
            clock.run();
        }
        if (!keepsStatistics) {
            server.telemetry().resetStats();
        }
        LOG.info("Loaded the log in {} in {} s: {} commands, {} of them refused; {} bytes of a torn end were cut off",
                directory, String.format(Locale.ROOT, "%.3f", (clock.nanoTime() - start) / NANOS_PER_SECOND),
                commands, refused, torn);
        return manifest.withoutLast(Math.min(empty, manifest.increments().size()));
    }

    private LogReader load(LogReplay replay, LoadMemory space, Path file, boolean isLast) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                NativeMemory memory = new NativeMemory()) {
            MemorySegment bytes = memory.map(channel);
            LOG.info("Loading {}, {} bytes", file, bytes.byteSize());
            long from = 0;
            if (RdbReader.isRdb(bytes.address(), bytes.byteSize())) {
                from = SnapshotLoader.loadBase(server, file, bytes, clock()::stopAt, space);
            }
            if (isLast) {
                // It will not be the last one, whose end may be missing, and its writer may have been killed.
                channel.force(true);
            }
            return replay.run(file, bytes, from, isLast, at -> report(file, at, bytes.byteSize()));
        }
    }

    private void report(Path file, long at, long length) throws LoadProgress.CancelledException {
        server.load().reached(at);
        if (server.ticker().nanoTime() - reportAt > 0) {
            reportAt = server.ticker().nanoTime() + PROGRESS_NANOS;
            LOG.info("Loading {}: {} % done", file, 100 * at / Math.max(1, length));
        }
    }

    /** Cuts off the end of the last file, or refuses to. */
    private void cut(Path file, LogReader reader) throws IOException {
        if (!config.bool("aof-load-truncated")) {
            throw new IOException(file + ": its last " + reader.tornBytes() + " bytes are incomplete; expected a"
                    + " complete file, or aof-load-truncated yes, which cuts them off");
        }
        LOG.warn("{}: the last {} bytes are incomplete, and are cut off", file, reader.tornBytes());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(reader.length() - reader.tornBytes());
            channel.force(true);
        }
    }
}
