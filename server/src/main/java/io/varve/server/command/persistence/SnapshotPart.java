package io.varve.server.command.persistence;

import java.lang.foreign.MemorySegment;
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
import io.varve.server.persistence.ReusedText;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.PayloadReader;
import io.varve.server.rdb.RdbException;
import io.varve.server.rdb.RdbReader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the part of an RDB file whose keys are in some of the shards. It reads the whole file, which costs little
 * beside storing the keys, so that the threads of a load share nothing. Confined to one thread, except
 * {@link #offset} and {@link #stop}.
 */
final class SnapshotPart {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotPart.class);
    private static final int MAX_EVICTIONS = 100;
    private static final int MAX_SECOND_DIGITS = 12;
    private static final long MILLIS_PER_SECOND = 1000;
    /** After this many entries, a power of two, it looks whether it has to stop. */
    private static final int STRETCH = 256;

    private final ServerState server;
    private final boolean keepsPresent;
    /** Stops the clock while the base of a log is loaded; null for a snapshot. */
    private final @Nullable LongConsumer clock;
    private final int number;
    private final int count;
    private final CacheSession session;
    private final CommandContext context;
    private final RestoreReader values;
    private final Key key = new Key();
    private final Item item = new Item();
    private long loaded;
    private long expired;
    /** Collections without elements, which old versions of Redis may have written: they are skipped, as in Redis. */
    private long empty;
    private volatile long offset;
    private volatile boolean stopped;

    /**
     * @param number of this part, from 0
     * @param count of all parts
     */
    SnapshotPart(ServerState server, boolean keepsPresent, @Nullable LongConsumer clock, int number, int count) {
        this.server = server;
        this.keepsPresent = keepsPresent;
        this.clock = clock;
        this.number = number;
        this.count = count;
        session = server.cache().newSession();
        session.notifying(false);
        context = new CommandContext(server.cache(), session, server, null, null, new LoopCounters(0),
                new ChangeRecorder(server.changes(), session));
        values = RestoreReader.of(context);
    }

    /**
     * Loads the keys of this part; the caller checks the checksum.
     *
     * @return the reader at the end of the file; null if it was stopped
     * @throws RdbException if the file is damaged
     */
    @Nullable
    RdbReader load(MemorySegment bytes) throws RdbException {
        // Texts of the head, and keys.
        try (ReusedText text = new ReusedText()) {
            RdbReader reader = new RdbReader(bytes.address(), bytes.byteSize(), text, new RdbReader.Sink() {
                @Override
                public void auxiliary(String name, String value) {
                    if (name.equals("ctime")) {
                        createdAt(value);
                    }
                }

                @Override
                public void sizes(int database, long keys, long expiring) {
                    LOG.debug("Database {} has {} keys, {} of which expire", database, keys, expiring);
                }
            });
            reader.leaveChecksumToCaller();
            PayloadReader keys = new PayloadReader(text);
            session.now(server.cache().config().ticker().wallMillis());
            for (int read = 1; reader.next(); read++) {
                loadEntry(reader, keys);
                if ((read & STRETCH - 1) == 0) {
                    offset = reader.offset();
                    if (stopped) {
                        return null;
                    }
                }
            }
            if (empty > 0) {
                LOG.warn("{} collections without elements were skipped", empty);
            }
            return reader;
        }
    }

    /** Ends {@link #load} soon. */
    void stop() {
        stopped = true;
    }

    /** The bytes of the file that were read. */
    long offset() {
        return offset;
    }

    /** Keys that were loaded; once the load has ended. */
    long loaded() {
        return loaded;
    }

    /** Keys that had expired; once the load has ended. */
    long expired() {
        return expired;
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
        try {
            int length = keys.readText(reader.key(), reader.value() - reader.key());
            session.bind(key, reader.database(), keys.text(), length);
        } catch (CorruptPayloadException corrupt) {
            throw new RdbException(reader.offset() - reader.valueLength(), "the key before this is damaged");
        }
        if (key.shard() % count != number) {
            return;
        }
        if (reader.expireAtMillis() <= session.now() && reader.expireAtMillis() != Item.NEVER) {
            expired++;
            return;
        }
        storeOrEvict(reader);
    }

    private void storeOrEvict(RdbReader reader) throws RdbException {
        for (int attempt = 0;; attempt++) {
            try {
                if (values.read(context, reader.type(), reader.value(), reader.valueLength())) {
                    store(reader);
                } else {
                    empty++;
                }
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
