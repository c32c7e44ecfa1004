package io.varve.server.migration;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.HashSlot;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.command.ServerState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the keys of slots that another member owns and that this one does not import: they have moved, or an import
 * has ended. Log and replicas receive the deletions. Confined to its thread, except
 * {@link #changed}, {@link #isForeign} and {@link #close}.
 *
 * <p>It remembers the slots that may have keys: all at the start and while this server is a replica, then those that it
 * has owned or imported since they were last empty. It decides under the lock of each key's shard, so that it deletes
 * nothing of a slot that a newer map gives back. Copies of hot keys stay as long as they are served.
 */
final class SlotCleaner implements Runnable, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SlotCleaner.class);
    private static final int DATABASE = 0;
    /** How many times as long as a pass the thread rests after it. */
    private static final int REST = 3;

    private final ServerState server;
    private final ClusterState cluster;
    private final CacheSession session;
    private final Thread thread;
    private final Object monitor = new Object();
    /** Guarded by the monitor. */
    private final BitSet mayHaveKeys = new BitSet();
    /** Slots that this member has owned or imported since the last look. Guarded by the monitor. */
    private final BitSet usedMeanwhile = new BitSet();
    /** Guarded by the monitor. */
    private boolean isChanged = true;
    private volatile boolean closing;

    SlotCleaner(ServerState server, ClusterState cluster) {
        this.server = server;
        this.cluster = cluster;
        session = server.cache().newSession();
        session.touching(false);
        session.notifying(false);
        mayHaveKeys.set(0, HashSlot.COUNT);
        thread = Thread.ofPlatform().daemon().name("varve-slot-cleaner").unstarted(this);
    }

    void start() {
        thread.start();
    }

    /** Any thread: there is another view. */
    void changed(ClusterView now) {
        synchronized (monitor) {
            for (int slot = 0; slot < HashSlot.COUNT; slot++) {
                if (isUsed(now, slot)) {
                    if (!mayHaveKeys.get(slot) && now.importing().containsKey(slot)) {
                        cluster.imports().knowEmpty(slot);
                    }
                    mayHaveKeys.set(slot);
                    usedMeanwhile.set(slot);
                }
            }
            isChanged = true;
            monitor.notifyAll();
        }
    }

    /** Whether keys of a slot may be this member's own. */
    static boolean isUsed(ClusterView view, int slot) {
        return !view.me().isPrimary() || view.isMe(view.owner(slot)) || view.importing().containsKey(slot);
    }

    /** Any thread: whether the keys of a slot are another member's. Without a lease, the map may be old. */
    boolean isForeign(int slot) {
        ClusterView view = cluster.view();
        return view.isLeased() && !isUsed(view, slot) && view.owner(slot) != null && !server.role().isReplica();
    }

    @Override
    public void run() {
        try (KeyDeleter deleter = new KeyDeleter(server)) {
            while (!closing) {
                BitSet work = awaitWork();
                long begun = server.ticker().nanoTime();
                long deleted = 0;
                for (int shard = 0; shard < server.cache().shardCount() && !closing; shard++) {
                    deleted += clean(work, shard, deleter);
                }
                if (deleted > 0) {
                    LOG.info("{} keys of slots of other members were deleted", deleted);
                }
                forget(work);
                // While many slots leave in groups, one pass cleans several groups: each pass scans whole shards.
                TimeUnit.NANOSECONDS.sleep(REST * (server.ticker().nanoTime() - begun));
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error bug) {
            LOG.error("Keys of slots of other members stay until the next start", bug);
        }
    }

    private BitSet awaitWork() throws InterruptedException {
        BitSet work = new BitSet();
        synchronized (monitor) {
            while (work.isEmpty()) {
                while (!isChanged) {
                    monitor.wait();
                }
                isChanged = false;
                usedMeanwhile.clear();
                mayHaveKeys.stream().filter(this::isForeign).forEach(work::set);
            }
        }
        return work;
    }

    private void forget(BitSet cleaned) {
        synchronized (monitor) {
            cleaned.andNot(usedMeanwhile);
            if (!closing) {
                cleaned.stream().filter(this::isForeign).forEach(mayHaveKeys::clear);
            }
        }
    }

    /** @return the number of deleted keys */
    private long clean(BitSet work, int shard, KeyDeleter deleter) {
        int shards = server.cache().shardCount();
        BitSet inShard = new BitSet();
        work.stream().filter(slot -> slot % shards == shard).forEach(inShard::set);
        if (inShard.isEmpty()) {
            return 0;
        }
        long deleted = 0;
        long cursor = 0;
        List<byte[]> names = new ArrayList<>();
        do {
            names.clear();
            session.now(server.ticker().wallMillis());
            cursor = session.scanSlots(DATABASE, inShard.nextSetBit(0), inShard::get, cursor,
                    found -> names.add(Memory.toArray(found.keyAddress(), found.keyLength())));
            for (byte[] found : names) {
                if (deleter.delete(found, this::mayDelete)) {
                    cluster.migrations().deleted();
                    deleted++;
                }
            }
            if (!names.isEmpty()) {
                deleter.flush();
            }
        } while (cursor != 0 && !closing);
        return deleted;
    }

    /** The shard of the key is locked. */
    private boolean mayDelete(Key key) {
        if (isForeign(key.slot())) {
            return !cluster.copies().holds(key.address(), key.length());
        }
        synchronized (monitor) {
            // The lease has ended: the key stays, and is looked for again.
            usedMeanwhile.set(key.slot());
        }
        return false;
    }

    @Override
    public void close() {
        closing = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
