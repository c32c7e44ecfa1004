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
import io.varve.server.script.LibrarySet;
import io.varve.server.script.ScriptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the part of an RDB file whose keys are in some of the shards. It reads the whole file, which costs little
 * beside storing the keys, so that the threads of a load share nothing. Confined to one thread, except
 * {@link #offset} and {@link #stop}.
 *
 * <p>It stores the entries in groups, so that the cache misses of a group's keys overlap.
 */
final class SnapshotPart {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotPart.class);
    private static final int MAX_EVICTIONS = 100;
    private static final int MAX_SECOND_DIGITS = 12;
    private static final long MILLIS_PER_SECOND = 1000;
    /** After this many entries, a power of two, it looks whether it has to stop. */
    private static final int STRETCH = 256;
    /** Entries whose keys are looked up together. */
    private static final int GROUP = 64;
    /** No entry of a file takes fewer bytes: a type, and two empty texts. */
    private static final int MIN_ENTRY_BYTES = 3;
    /** Shards do not have exactly the same number of keys: the part of the mean that one may have more. */
    private static final int SPARE_PART = 64;

    /** An entry that was read, and is not stored yet. */
    private static final class Entry {
        private int type;
        private long value;
        private long valueLength;
        private long expireAtMillis;
        private long idleSeconds;
        private int frequency;
        private boolean isPinned;
        /** Where it ends in the file. */
        private long end;

        void set(RdbReader reader) {
            type = reader.type();
            value = reader.value();
            valueLength = reader.valueLength();
            expireAtMillis = reader.expireAtMillis();
            idleSeconds = reader.idleSeconds();
            frequency = reader.frequency();
            isPinned = reader.isPinned();
            end = reader.offset();
        }
    }

    /** The head's field for the database that a replica's stream of changes has selected. */
    static final String STREAM_DATABASE = "repl-stream-db";
    /** The head's fields for the history of changes: its ID, and the offset at which the data was so. */
    static final String HISTORY_ID = "repl-id";
    static final String HISTORY_OFFSET = "repl-offset";

    private final ServerState server;
    private final boolean keepsPresent;
    /** A replica keeps keys that have expired until its primary removes them. */
    private final boolean keepsExpired;
    private int streamDatabase;
    private String historyId = "";
    private long historyOffset;
    private LibrarySet libraries = LibrarySet.EMPTY;
    /** Stops the clock while the base of a log is loaded; null for a snapshot. */
    private final @Nullable LongConsumer clock;
    /** Null if maxmemory limits the load. */
    private final @Nullable LoadMemory memory;
    private final int number;
    private final int count;
    private final CacheSession session;
    private final CommandContext context;
    private final RestoreReader values;
    private final Entry[] group = new Entry[GROUP];
    /** The keys of the group. */
    private final Key[] groupKeys = new Key[GROUP];
    private int grouped;
    private final KeysOnFlash onFlash;
    private final Item item = new Item();
    /** The most keys that the bytes of the file allow, without those that were announced so far. */
    private long announceable;
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
    SnapshotPart(ServerState server, boolean keepsPresent, @Nullable LongConsumer clock, @Nullable LoadMemory memory,
            int number, int count) {
        this.server = server;
        this.keepsPresent = keepsPresent;
        keepsExpired = server.role().isReplica();
        this.clock = clock;
        this.memory = memory;
        this.number = number;
        this.count = count;
        session = server.cache().newSession();
        session.notifying(false);
        context = new CommandContext(server.cache(), session, server, null, null, new LoopCounters(0),
                new ChangeRecorder(server.changes(), session));
        values = RestoreReader.of(context);
        for (int i = 0; i < GROUP; i++) {
            group[i] = new Entry();
            groupKeys[i] = new Key();
        }
        onFlash = new KeysOnFlash(server.flash(), session);
    }

    /**
     * Loads the keys of this part; the caller checks the checksum.
     *
     * @return the reader at the end of the file; null if it was stopped
     * @throws RdbException if the file is damaged
     */
    @Nullable
    RdbReader load(MemorySegment bytes) throws RdbException {
        announceable = server.cache().hasFreeMemory(bytes.byteSize()) ? bytes.byteSize() / MIN_ENTRY_BYTES : 0;
        // Texts of the head, and keys.
        try (ReusedText text = new ReusedText()) {
            RdbReader reader = new RdbReader(bytes.address(), bytes.byteSize(), text, new RdbReader.Sink() {
                @Override
                public void auxiliary(String name, String value) {
                    if (name.equals("ctime")) {
                        createdAt(value);
                    } else if (name.equals(STREAM_DATABASE) && value.matches("\\d{1,5}")) {
                        streamDatabase = Integer.parseInt(value);
                    } else if (name.equals(HISTORY_ID) && value.matches("[0-9a-f]{40}")) {
                        historyId = value;
                    } else if (name.equals(HISTORY_OFFSET) && value.matches("\\d{1,18}")) {
                        historyOffset = Long.parseLong(value);
                    }
                }

                @Override
                public void sizes(int database, long keys, long expiring) {
                    LOG.debug("Database {} has {} keys, {} of which expire", database, keys, expiring);
                    expect(database, keys);
                }

                @Override
                public void library(long at, byte[] source) throws RdbException {
                    if (number == 0) {
                        add(at, source);
                    }
                }
            });
            reader.leaveChecksumToCaller();
            PayloadReader keys = new PayloadReader(text);
            session.now(server.cache().config().ticker().wallMillis());
            for (int read = 1; reader.next(); read++) {
                readEntry(reader, keys, bytes);
                if ((read & STRETCH - 1) == 0) {
                    offset = reader.offset();
                    if (memory != null) {
                        memory.relieve();
                    }
                    if (stopped) {
                        return null;
                    }
                }
            }
            storeGroup();
            if (empty > 0) {
                LOG.warn("{} collections without elements were skipped", empty);
            }
            return reader;
        }
    }

    /**
     * Prepares the shards of this part for the keys that the file announces: at most for as many as its bytes allow. If
     * the file is larger than the free memory, its keys may not fit, so that the size of their index is unknown.
     */
    private void expect(int database, long keys) {
        long expected = Math.min(keys, announceable);
        announceable -= expected;
        if (expected == 0 || database >= server.cache().databaseCount()) {
            return;
        }
        int shards = server.cache().shardCount();
        long each = expected / shards;
        for (int shard = number; shard < shards; shard += count) {
            server.cache().expectKeys(database, shard, each + each / SPARE_PART);
        }
    }

    private void add(long at, byte[] source) throws RdbException {
        try {
            libraries = server.scripting().libraries().add(libraries, source, false);
        } catch (ScriptException invalid) {
            throw new RdbException(at, "a library of functions cannot be loaded: " + invalid.reply());
        }
    }

    /** The libraries of functions, if this is the first part; once the load has ended. */
    LibrarySet libraries() {
        return libraries;
    }

    /** Ends {@link #load} soon. */
    void stop() {
        stopped = true;
    }

    /** The bytes of the file that were read. */
    long offset() {
        return offset;
    }

    /** The database that a primary's stream of changes has selected, according to the head. */
    int streamDatabase() {
        return streamDatabase;
    }

    /** The history that the head names; empty if there is none. */
    String historyId() {
        return historyId;
    }

    /** The offset at which the data was so. */
    long historyOffset() {
        return historyOffset;
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

    private void readEntry(RdbReader reader, PayloadReader keys, MemorySegment bytes) throws RdbException {
        if (reader.database() >= server.cache().databaseCount()) {
            throw new RdbException(reader.offset(), "database " + reader.database() + ": databases is "
                    + server.cache().databaseCount());
        }
        Key key = groupKeys[grouped];
        try {
            int length = keys.readText(reader.key(), reader.value() - reader.key());
            session.bind(key, reader.database(), keys.text(), length);
        } catch (CorruptPayloadException corrupt) {
            throw new RdbException(reader.offset() - reader.valueLength(), "the key before this is damaged");
        }
        if (key.shard() % count != number) {
            return;
        }
        if (!keepsExpired && reader.expireAtMillis() <= session.now() && reader.expireAtMillis() != Item.NEVER) {
            expired++;
            return;
        }
        group[grouped++].set(reader);
        long inFile = key.address() - bytes.address();
        // The next key would overwrite one that is compressed, or a number.
        if (grouped == GROUP || inFile < 0 || inFile >= bytes.byteSize()) {
            storeGroup();
        }
    }

    private void storeGroup() throws RdbException {
        if (grouped > 1) {
            session.touch(groupKeys, grouped);
        }
        int stored = grouped;
        grouped = 0;
        for (int i = 0; i < stored; i++) {
            storeOrEvict(groupKeys[i], group[i]);
        }
    }

    private void storeOrEvict(Key key, Entry entry) throws RdbException {
        for (int attempt = 0;; attempt++) {
            try {
                if (values.read(context, entry.type, entry.value, entry.valueLength)) {
                    store(key, entry);
                } else {
                    empty++;
                }
                return;
            } catch (CorruptPayloadException corrupt) {
                throw new RdbException(entry.end - entry.valueLength, "the value that begins here is damaged");
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

    private void store(Key key, Entry entry) throws RdbException {
        while (!isStored(key, entry)) {
            onFlash.fetch(key);
        }
    }

    /** @return false if the key may be on flash, and has to be fetched */
    private boolean isStored(Key key, Entry entry) throws RdbException {
        session.lock(key);
        try {
            if (session.peek(key, item)) {
                if (keepsPresent) {
                    return true;
                }
                throw new RdbException(entry.end, "a second entry of one key in database " + key.database());
            }
            if (onFlash.mightHave(key)) {
                return false;
            }
            values.store(key, entry.expireAtMillis);
            loaded++;
            if ((entry.idleSeconds >= 0 || entry.frequency >= 0) && session.peek(key, item)) {
                session.access(item, entry.idleSeconds, entry.frequency);
            }
            if (entry.isPinned && session.peek(key, item)) {
                session.pinItem(item, Long.MAX_VALUE);
            }
            return true;
        } finally {
            session.unlock(key);
        }
    }
}
