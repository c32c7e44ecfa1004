package io.varve.server.command.persistence;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.LongConsumer;

import io.varve.memory.item.CacheFullException;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.rdb.Crc64;
import io.varve.server.rdb.RdbException;
import io.varve.server.rdb.RdbReader;
import io.varve.server.script.FunctionLibraries.Collision;
import io.varve.server.script.ScriptException;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads an RDB file: into the empty cache of a server that starts, or again by DEBUG RELOAD. Confined to the thread
 * that loads; each {@link SnapshotPart} has a thread of its own.
 */
public final class SnapshotLoader {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotLoader.class);
    private static final long PROGRESS_NANOS = 5_000_000_000L;
    private static final double NANOS_PER_SECOND = 1e9;
    /** Files below this size are not worth several threads. */
    private static final long PARALLEL_BYTES = 1 << 20;

    private final ServerState server;
    private final Path file;
    private final boolean keepsPresent;
    private final List<SnapshotPart> parts = new ArrayList<>();
    private volatile @Nullable RdbReader first;
    private long sum;
    private long summed;
    private long reportAt;

    /**
     * @param keepsPresent whether an entry of a key that exists is skipped, and no damage; libraries stay, too
     * @param clock stops the clock while the base of a log is loaded; null for a snapshot
     * @param memory null if maxmemory limits the load
     */
    private SnapshotLoader(ServerState server, Path file, long bytes, boolean keepsPresent,
            @Nullable LongConsumer clock, @Nullable LoadMemory memory) {
        this.server = server;
        this.file = file;
        this.keepsPresent = keepsPresent;
        int count = bytes < PARALLEL_BYTES
                ? 1
                : Math.min(server.cache().shardCount(), Runtime.getRuntime().availableProcessors());
        reportAt = server.ticker().nanoTime() + PROGRESS_NANOS;
        for (int i = 0; i < count; i++) {
            parts.add(new SnapshotPart(server, keepsPresent, clock, memory, i, count));
        }
    }

    /** The snapshot file of a configuration. */
    public static Path file(ServerConfig config) {
        return SnapshotSaver.file(config);
    }

    /**
     * Loads the snapshot file that the configuration names, if it exists.
     *
     * @throws IOException if it cannot be loaded as a whole: the server must not start with a part of the data
     */
    public static void loadAtStart(ServerState server) throws IOException {
        Path file = SnapshotSaver.file(server.config());
        if (!Files.exists(file)) {
            return;
        }
        // Without flash, what does not fit is evicted as it is loaded.
        LoadMemory memory = server.flash() == null ? null : LoadMemory.begin(server);
        try {
            SnapshotPart head = load(server, file, false, memory);
            if (memory != null) {
                memory.endLoad();
                memory.restoreLimit();
            }
            if (server.role().isReplica() && !head.historyId().isEmpty()) {
                server.replicas().restore(head.historyId(), head.historyOffset(), head.streamDatabase());
            }
        } catch (RdbException damaged) {
            throw new IOException(file + ": " + damaged.getMessage() + ". The file was not changed; move it away to"
                    + " start without its data", damaged);
        } catch (CacheFullException full) {
            throw new IOException(file + ": its data does not fit into maxmemory " + server.config().maxMemoryBytes()
                    + "; expected a larger maxmemory, or a policy that evicts", full);
        }
    }

    /**
     * Loads the base of a log, with the keys that have expired since.
     *
     * @param clock stops the clock at the time of the base, milliseconds since the epoch
     * @return the offset after it
     */
    public static long loadBase(ServerState server, Path file, MemorySegment bytes, LongConsumer clock,
            LoadMemory memory) throws IOException {
        try {
            return new SnapshotLoader(server, file, bytes.byteSize(), false, clock, memory).read(bytes);
        } catch (RdbException damaged) {
            throw new IOException(file + ": " + damaged.getMessage() + ". The file was not changed", damaged);
        } catch (CacheFullException full) {
            throw new IOException(file + ": its data does not fit into maxmemory " + server.config().maxMemoryBytes()
                    + "; expected a larger maxmemory, or a policy that evicts", full);
        }
    }

    /**
     * Loads the file again, into a cache that clients use. Keys that exist by then stay as they are.
     *
     * @param collision what happens to the present libraries
     */
    static void reload(ServerState server, Collision collision) throws IOException {
        SnapshotPart head = load(server, SnapshotSaver.file(server.config()), true, null);
        try {
            server.scripting().libraries().restore(head.libraries(), collision);
        } catch (ScriptException invalid) {
            throw new IOException(invalid.reply().replaceFirst("^ERR ", ""), invalid);
        }
    }

    /**
     * Loads the snapshot of a primary, with the keys that have expired: the primary removes them.
     *
     * @return the database that its stream of changes has selected
     */
    public static int loadFromPrimary(ServerState server, Path file) throws IOException {
        try {
            return load(server, file, false, null).streamDatabase();
        } catch (CacheFullException full) {
            throw new IOException("its data does not fit into the memory of this server", full);
        }
    }

    /** @return what has read the head of the file */
    private static SnapshotPart load(ServerState server, Path file, boolean keepsPresent, @Nullable LoadMemory space)
            throws IOException {
        long start = server.ticker().nanoTime();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                NativeMemory memory = new NativeMemory()) {
            MemorySegment bytes = memory.map(channel);
            LOG.info("Loading {}, {} bytes", file, bytes.byteSize());
            server.load().expects(bytes.byteSize());
            SnapshotLoader loader = new SnapshotLoader(server, file, bytes.byteSize(), keepsPresent, null,
                    space);
            loader.read(bytes);
            long loaded = loader.parts.stream().mapToLong(SnapshotPart::loaded).sum();
            long expired = loader.parts.stream().mapToLong(SnapshotPart::expired).sum();
            server.telemetry().snapshots().loaded(loaded, expired);
            LOG.info("Loaded {} keys from {} in {} s; {} more had expired", loaded, file,
                    String.format(Locale.ROOT, "%.3f", (server.ticker().nanoTime() - start) / NANOS_PER_SECOND),
                    expired);
            return loader.parts.getFirst();
        }
    }

    /**
     * Loads all parts, each on a thread, and computes the checksum meanwhile.
     *
     * @return the offset after the end of the snapshot
     */
    private long read(MemorySegment bytes) throws IOException {
        LoadThreads threads = new LoadThreads(() -> parts.forEach(SnapshotPart::stop));
        try {
            for (SnapshotPart part : parts) {
                threads.start(() -> load(part, bytes));
            }
            while (threads.isRunning()) {
                server.load().reached(parts.getFirst().offset());
                report(bytes.byteSize());
                sumTo(bytes, parts.getFirst().offset());
            }
        } catch (LoadProgress.CancelledException | RuntimeException | Error ended) {
            threads.fail(ended);
        } finally {
            threads.join();
            server.cache().expectNoKeys();
        }
        threads.rethrow();
        RdbReader end = Objects.requireNonNull(first);
        if (end.covered() > 0) {
            sumTo(bytes, end.covered());
            end.verify(sum);
        }
        if (!keepsPresent) {
            server.scripting().libraries().replaceAll(parts.getFirst().libraries());
        }
        return end.offset();
    }

    private void load(SnapshotPart part, MemorySegment bytes) throws RdbException {
        RdbReader end = part.load(bytes);
        if (part == parts.getFirst()) {
            first = end;
        }
    }

    private void sumTo(MemorySegment bytes, long offset) {
        if (offset > summed) {
            sum = Crc64.update(sum, bytes.address() + summed, offset - summed);
            summed = offset;
        }
    }

    private void report(long length) {
        long now = server.ticker().nanoTime();
        if (now - reportAt > 0) {
            reportAt = now + PROGRESS_NANOS;
            LOG.info("Loading {}: {} % done", file, 100 * parts.getFirst().offset() / length);
        }
    }
}
