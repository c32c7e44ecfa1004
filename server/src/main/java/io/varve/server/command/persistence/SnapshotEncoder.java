package io.varve.server.command.persistence;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.varve.memory.CacheSession;
import io.varve.memory.PointInTimeScan;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.StoredItem;
import io.varve.memory.report.HitMissSnapshot;
import io.varve.memory.shard.ShardSet;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.CommandContext;
import io.varve.server.command.ServerState;
import io.varve.server.command.Version;
import io.varve.server.command.dump.ValueWriter;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.PendingBytes;
import io.varve.server.rdb.PayloadWriter;
import io.varve.server.replication.Replicas;
import io.varve.server.script.FunctionLibrary;
import io.varve.server.script.LibrarySet;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the items of a point-in-time scan as entries of an RDB file. Guarded by its own monitor, which a thread takes
 * under a shard's lock: the items come from the scan's thread, from those that are about to change them, and from those
 * of the flash tier.
 */
final class SnapshotEncoder implements ItemCapture, AutoCloseable {
    private static final long MILLIS_PER_SECOND = 1000;
    private static final long FIRST_BYTES = 128 << 10;
    private static final int NO_DATABASE = -1;

    private final ServerState server;
    private final boolean isLogBase;
    private final Runnable atMoment;
    private final CacheSession session;
    private final CommandContext context;
    private final PayloadWriter writer;
    /** Whether entries have the last access of their keys: as in Redis, only if the policy uses it. */
    private final boolean hasAccesses;
    private final ShardSet shard;
    private final HitMissSnapshot counters;
    private NativeMemory owner = new NativeMemory();
    private MemorySegment memory = MemorySegment.NULL;
    private int database = NO_DATABASE;
    private long keys;
    private long startMillis;
    /** The libraries of functions at the moment. */
    private LibrarySet libraries = LibrarySet.EMPTY;
    /** The history of changes at the moment; empty if there is none. */
    private String historyId = "";
    private long historyOffset;
    private int streamDatabase;
    private @Nullable Throwable failure;
    private @Nullable StoredItemReader storedItems;
    private boolean hasTimedOnFlash;

    /**
     * @param isLogBase whether the file is the base of the log
     * @param atMoment called when the scan begins, under the locks of all shards
     */
    SnapshotEncoder(ServerState server, PendingBytes pending, boolean isLogBase, Runnable atMoment) {
        this.server = server;
        this.isLogBase = isLogBase;
        this.atMoment = atMoment;
        session = server.cache().newSession();
        session.touching(false);
        session.notifying(false);
        context = new CommandContext(server.cache(), session, server, null, null, new LoopCounters(0),
                new ChangeRecorder(server.changes(), session));
        writer = new PayloadWriter(this::require, pending::append);
        writer.compresses(server.config().bool("rdbcompression"));
        hasAccesses = EvictionPolicy.ofRedisName(server.config().text("maxmemory-policy"))
                .orElseThrow().usesAccesses();
        shard = new ShardSet(server.cache().shardCount());
        counters = new HitMissSnapshot(server.cache().shardCount());
    }

    /** No item that is present at the start of the scan expires for this session. */
    @Override
    public synchronized void begins(long millis) {
        startMillis = millis;
        session.now(millis);
        atMoment.run();
        libraries = server.scripting().libraries().current();
        Replicas replicas = server.replicas();
        if (server.role().isReplica() && replicas.isWhole()) {
            historyId = replicas.id();
            historyOffset = replicas.offset();
            streamDatabase = replicas.streamDatabase();
        }
    }

    @Override
    public synchronized void failed(Throwable reason) {
        failure = reason;
    }

    private long require(long bytes) {
        if (bytes > memory.byteSize()) {
            NativeMemory grown = new NativeMemory();
            MemorySegment larger = grown.allocate(Math.max(Math.max(FIRST_BYTES, bytes), 2 * memory.byteSize()));
            MemorySegment.copy(memory, 0, larger, 0, memory.byteSize());
            owner.close();
            owner = grown;
            memory = larger;
        }
        return memory.address();
    }

    /**
     * Encodes the head of the file, apart from the entries, some of which may exist already.
     *
     * @param isTimed whether fields of hashes have times
     */
    void head(PointInTimeScan scan, boolean isTimed, NativeMemory headMemory, PendingBytes beginning) {
        long address = headMemory.allocate(FIRST_BYTES).address();
        PayloadWriter head = new PayloadWriter(_ -> address, beginning::append);
        head.head(PayloadWriter.version(isTimed));
        head.auxiliary("redis-ver", Version.REDIS);
        head.auxiliary("redis-bits", "64");
        head.auxiliary("ctime", Long.toString(scan.startMillis() / MILLIS_PER_SECOND));
        head.auxiliary("used-mem", Long.toString(server.cache().stats().chargedBytes()));
        if (!historyId.isEmpty()) {
            // A replica can go on here. Its stream is the primary's, to which no SELECT can be added.
            head.auxiliary(SnapshotPart.STREAM_DATABASE, Integer.toString(streamDatabase));
            head.auxiliary(SnapshotPart.HISTORY_ID, historyId);
            head.auxiliary(SnapshotPart.HISTORY_OFFSET, Long.toString(historyOffset));
        }
        head.auxiliary("aof-base", isLogBase ? "1" : "0");
        for (FunctionLibrary library : libraries.libraries()) {
            MemorySegment source = headMemory.allocate(library.source().length);
            MemorySegment.copy(library.source(), 0, source, ValueLayout.JAVA_BYTE, 0, library.source().length);
            head.library(source.address(), library.source().length);
        }
        for (int i = 0; i < server.cache().databaseCount(); i++) {
            if (scan.size(i) > 0) {
                head.selectDatabase(i);
                head.sizes(scan.size(i), scan.expiringSize(i));
            }
        }
        head.drainAll();
    }

    @Override
    public synchronized void capture(int of, Key key, Item item) {
        if (failure != null) {
            return;
        }
        shard.clear();
        shard.add(key.shard());
        session.note(shard, counters);
        try {
            if (of != database) {
                database = of;
                writer.selectDatabase(of);
            }
            writeKey(session, item);
            ValueWriter.write(context, key, item, writer);
            keys++;
        } catch (RuntimeException | Error failed) {
            // A command that is about to change the item must not fail because the snapshot does.
            failure = failed;
        } finally {
            session.forgetSince(shard, counters);
        }
    }

    @Override
    public synchronized void capture(int of, StoredItem stored) {
        if (failure != null) {
            return;
        }
        try {
            StoredItemReader reader = storedItems == null ? new StoredItemReader(server, startMillis) : storedItems;
            storedItems = reader;
            if (of != database) {
                database = of;
                writer.selectDatabase(of);
            }
            reader.read(stored, (key, item) -> {
                writeKey(reader.session(), item);
                ValueWriter.write(reader.context(), key, item, writer);
                keys++;
            });
            hasTimedOnFlash |= stored.type() == ItemType.HASH && stored.encoding() == Item.TIMED;
        } catch (RuntimeException | Error failed) {
            // The flash tier goes on.
            failure = failed;
        }
    }

    /** Reads since the start of the scan have renewed access clocks, which are compared with the present time. */
    private void writeKey(CacheSession of, Item item) {
        long idleSeconds = -1;
        int frequency = -1;
        if (hasAccesses) {
            of.now(server.ticker().wallMillis());
            long idleMillis = of.idleMillis(item);
            idleSeconds = idleMillis < 0 ? -1 : idleMillis / MILLIS_PER_SECOND;
            frequency = of.frequency(item);
            of.now(startMillis);
        }
        writer.entry(item.keyAddress(), item.keyLength(), item.expireAtMillis(), idleSeconds, frequency,
                of.isPinned(item));
    }

    /** Encodes the end of the file. */
    synchronized void end() {
        writer.endEntries();
    }

    /** The number of encoded keys. */
    synchronized long keys() {
        return keys;
    }

    /** Whether hashes on flash were encoded whose fields may have times. */
    synchronized boolean hasTimedOnFlash() {
        return hasTimedOnFlash;
    }

    /** Why an item could not be encoded; null if all could. */
    synchronized @Nullable Throwable failure() {
        return failure;
    }

    @Override
    public synchronized void close() {
        failure = new IllegalStateException("closed");
        owner.close();
        if (storedItems != null) {
            storedItems.close();
            storedItems = null;
        }
    }
}
