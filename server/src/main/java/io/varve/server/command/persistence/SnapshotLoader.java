package io.varve.server.command.persistence;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.function.LongConsumer;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.CommandContext;
import io.varve.server.command.ServerState;
import io.varve.server.command.dump.RestoreReader;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.persistence.ReusedText;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.PayloadReader;
import io.varve.server.rdb.RdbException;
import io.varve.server.rdb.RdbReader;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads an RDB file: into the empty cache of a server that starts, or again by DEBUG RELOAD. Confined to the thread
 * that loads.
 */
public final class SnapshotLoader {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotLoader.class);
    private static final long PROGRESS_NANOS = 5_000_000_000L;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int MAX_EVICTIONS = 100;
    private static final int MAX_SECOND_DIGITS = 12;
    private static final long MILLIS_PER_SECOND = 1000;

    private final ServerState server;
    private final Path file;
    private final boolean keepsPresent;
    private final CacheSession session;
    private final CommandContext context;
    private final RestoreReader values;
    private final Key key = new Key();
    private final Item item = new Item();
    /** Stops the clock while the base of a log is loaded; null for a snapshot. */
    private @Nullable LongConsumer clock;
    private long loaded;
    private long expired;

    /** @param keepsPresent whether an entry of a key that exists is skipped, and no damage */
    private SnapshotLoader(ServerState server, Path file, boolean keepsPresent) {
        this.server = server;
        this.keepsPresent = keepsPresent;
        this.file = file;
        session = server.cache().newSession();
        session.notifying(false);
        context = new CommandContext(server.cache(), session, server, null, null, new LoopCounters(0),
                new ChangeRecorder(server.changes(), session));
        values = RestoreReader.of(context);
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
        if (server.flash() != null) {
            LOG.warn("{} is not loaded: snapshots do not cover the keys in flash-dir yet", file);
            return;
        }
        try {
            new SnapshotLoader(server, file, false).load();
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
    public static long loadBase(ServerState server, Path file, MemorySegment bytes, LongConsumer clock)
            throws IOException {
        SnapshotLoader loader = new SnapshotLoader(server, file, false);
        loader.clock = clock;
        try {
            return loader.read(bytes, server.ticker().nanoTime());
        } catch (RdbException damaged) {
            throw new IOException(file + ": " + damaged.getMessage() + ". The file was not changed", damaged);
        } catch (CacheFullException full) {
            throw new IOException(file + ": its data does not fit into maxmemory " + server.config().maxMemoryBytes()
                    + "; expected a larger maxmemory, or a policy that evicts", full);
        }
    }

    /** Loads the file again, into a cache that clients use. Keys that exist by then stay as they are. */
    static void reload(ServerState server) throws IOException {
        new SnapshotLoader(server, SnapshotSaver.file(server.config()), true).load();
    }

    private void load() throws IOException {
        long start = server.ticker().nanoTime();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                NativeMemory memory = new NativeMemory()) {
            MemorySegment bytes = memory.map(channel);
            LOG.info("Loading {}, {} bytes", file, bytes.byteSize());
            server.load().expects(bytes.byteSize());
            read(bytes, start);
        }
        server.telemetry().snapshots().loaded(loaded, expired);
        LOG.info("Loaded {} keys from {} in {} s; {} more had expired", loaded, file,
                String.format(Locale.ROOT, "%.3f", (server.ticker().nanoTime() - start) / NANOS_PER_SECOND), expired);
    }

    /** @return the offset after the end of the snapshot */
    private long read(MemorySegment bytes, long start) throws RdbException, LoadProgress.CancelledException {
        // Texts of the head, and keys.
        try (ReusedText text = new ReusedText()) {
            RdbReader reader = new RdbReader(bytes.address(), bytes.byteSize(), text, new RdbReader.Sink() {
                @Override
                public void auxiliary(String name, String value) {
                    LOG.debug("{}: {} {}", file, name, value);
                    if (name.equals("ctime")) {
                        createdAt(value);
                    }
                }

                @Override
                public void sizes(int database, long keys, long expiring) {
                    LOG.debug("{}: database {} has {} keys, {} of which expire", file, database, keys, expiring);
                }
            });
            PayloadReader keys = new PayloadReader(text);
            long reportAt = start + PROGRESS_NANOS;
            session.now(server.cache().config().ticker().wallMillis());
            while (reader.next()) {
                loadEntry(reader, keys);
                server.load().reached(reader.offset());
                if (server.ticker().nanoTime() - reportAt > 0) {
                    reportAt += PROGRESS_NANOS;
                    LOG.info("Loading {}: {} % done, {} keys", file, 100 * reader.offset() / reader.length(), loaded);
                }
            }
            return reader.offset();
        }
    }

    /** All keys of a base belong to it that had not expired when it was made. */
    private void createdAt(String seconds) {
        if (clock != null && seconds.length() <= MAX_SECOND_DIGITS && seconds.chars().allMatch(Character::isDigit)) {
            long millis = MILLIS_PER_SECOND * Long.parseLong(seconds);
            clock.accept(millis);
            session.now(millis);
        }
    }

    private void loadEntry(RdbReader reader, PayloadReader keys) throws RdbException {
        if (reader.database() >= server.cache().databaseCount()) {
            throw new RdbException(reader.offset(), "database " + reader.database() + ": databases is "
                    + server.cache().databaseCount());
        }
        if (reader.expireAtMillis() <= session.now() && reader.expireAtMillis() != Item.NEVER) {
            expired++;
            return;
        }
        try {
            int length = keys.readText(reader.key(), reader.value() - reader.key());
            session.bind(key, reader.database(), keys.text(), length);
        } catch (CorruptPayloadException corrupt) {
            throw new RdbException(reader.offset() - reader.valueLength(), "the key before this is damaged");
        }
        for (int attempt = 0;; attempt++) {
            try {
                values.read(context, reader.type(), reader.value(), reader.valueLength());
                store(reader);
                return;
            } catch (CorruptPayloadException corrupt) {
                throw new RdbException(reader.offset() - reader.valueLength(),
                        "the value that begins here is damaged");
            } catch (CacheFullException full) {
                long bytes = values.inAll(full).bytes();
                values.release();
                if (!full.isRecoverable() || attempt == MAX_EVICTIONS || !server.cache().admit(bytes)) {
                    throw full;
                }
            } finally {
                values.release();
            }
        }
    }

    private void store(RdbReader reader) throws RdbException {
        session.lock(key);
        try {
            if (session.peek(key, item)) {
                if (keepsPresent) {
                    return;
                }
                throw new RdbException(reader.offset(), "a second entry of one key in database " + reader.database());
            }
            values.store(key, reader.expireAtMillis());
            loaded++;
            if ((reader.idleSeconds() >= 0 || reader.frequency() >= 0) && session.peek(key, item)) {
                session.access(item, reader.idleSeconds(), reader.frequency());
            }
        } finally {
            session.unlock(key);
        }
    }
}
