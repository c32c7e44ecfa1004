package io.varve.server.migration;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.Member;
import io.varve.memory.CacheSession;
import io.varve.memory.shard.ShardSet;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.Handover;
import io.varve.server.clustering.MigrationCounters;
import io.varve.server.command.ServerState;
import io.varve.server.command.dump.KeyExport;
import io.varve.server.keys.HeapKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to move slots of one shard. Confined to the thread of its {@link SlotMigrator}.
 *
 * <pre>
 *  record changes -> drop what the receiver has -> copy all keys -> copy changed keys, until few are left
 *                                                                       ^                  |
 *                                                   too slow: released  |                  v
 *                                                                       +------- hold commands, copy the rest,
 *                                                                                wait for the receiver's replicas,
 *                                                                                ask the controllers -> release
 * </pre>
 *
 * <p>The slots stay with this member until the map gives them to the receiver. After any failure the next attempt
 * begins at the start.
 */
final class SlotTransfer {
    private static final Logger LOG = LoggerFactory.getLogger(SlotTransfer.class);
    private static final int DATABASE = 0;
    private static final int DROPPED_AT_ONCE = 1_000;
    /** With so few changed keys the commands are held. */
    private static final int FEW_KEYS = 64;
    /** Rounds over the changed keys before the commands are held although many are left. */
    private static final int MAX_ROUNDS = 20;
    /** The longest time to send the rest while commands are held. It doubles with each attempt that was too slow. */
    private static final long FIRST_HOLD_MILLIS = 100;
    private static final int MAX_HOLDS = 7;
    /** How long the commands stay held for a receiver that does not know yet that it owns the slots. */
    private static final long NEWS_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long NEWS_PAUSE_MILLIS = 2;

    private final SlotMigrator migrator;
    private final ServerState server;
    private final ClusterState cluster;
    private final MigrationCounters counters;
    private final TargetConnection connection;
    private final KeyExport export;
    private final BitSet slots;
    private final long generation;
    private final CacheSession session;
    private final ShardSet shard;
    private final PendingKeys pending;
    /** Keys that the receiver has pinned. */
    private final Set<HeapKey> pinned = new HashSet<>();
    private long sentKeys;
    /** Of the map with which it began. */
    private final long epoch;

    /**
     * @param connection to the receiver
     * @param slots all of one shard
     * @param generation of the receiver's process
     */
    SlotTransfer(SlotMigrator migrator, ServerState server, ClusterState cluster, TargetConnection connection,
            KeyExport export, BitSet slots, long generation) {
        this.migrator = migrator;
        this.server = server;
        this.cluster = cluster;
        this.connection = connection;
        this.export = export;
        this.slots = slots;
        this.generation = generation;
        counters = cluster.migrations();
        epoch = cluster.view().map().epoch();
        session = server.cache().newSession();
        shard = new ShardSet(server.cache().shardCount());
        int number = slots.nextSetBit(0) % server.cache().shardCount();
        shard.add(number);
        pending = new PendingKeys(slots, number, server.argumentMemory());
    }

    /** @throws IOException if the slots have not moved */
    void run() throws IOException, InterruptedException {
        long begun = server.ticker().nanoTime();
        long bytes = connection.written();
        server.cache().subscribe(pending);
        try {
            awaitOlderCommands();
            dropAtReceiver(announce());
            scan();
            int holds = 1;
            while (!tryHandOver(holds)) {
                if (++holds > MAX_HOLDS) {
                    throw new TransferException("the keys change faster than they can be sent");
                }
            }
        } finally {
            server.cache().unsubscribe(pending);
            pending.close();
        }
        counters.moved(slots.cardinality());
        LOG.info("Slots {} have moved to member {}: {} keys, {} bytes, {} ms", slots, migrator.targetId(), sentKeys,
                connection.written() - bytes,
                TimeUnit.NANOSECONDS.toMillis(server.ticker().nanoTime() - begun));
    }

    /** When it returns, no command runs that has not seen the listener or the hold. */
    private void awaitOlderCommands() {
        session.lock(shard);
        session.unlock(shard);
    }

    /**
     * From here on, the receiver refuses what earlier attempts have sent and it has not received yet.
     *
     * @return the slots that may have keys at the receiver
     */
    private BitSet announce() throws IOException, InterruptedException {
        awaitEpochAtReceiver(epoch);
        BitSet used = new BitSet();
        String attempt = Long.toString(counters.nextAttempt());
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            migrator.requireMoving(slots);
            String reply = connection.line("CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING",
                    cluster.view().me().id(), Long.toString(epoch), Long.toString(cluster.generation()), attempt);
            if (!reply.equals("+EMPTY")) {
                used.set(slot);
            }
        }
        return used;
    }

    /** An earlier attempt may have left keys there. */
    private void dropAtReceiver(BitSet used) throws IOException {
        for (int slot = used.nextSetBit(0); slot >= 0; slot = used.nextSetBit(slot + 1)) {
            int found = DROPPED_AT_ONCE;
            while (found == DROPPED_AT_ONCE) {
                migrator.requireMoving(slots);
                var keys = connection.texts("CLUSTER", "GETKEYSINSLOT", Integer.toString(slot),
                        Integer.toString(DROPPED_AT_ONCE));
                found = keys.size();
                for (byte[] key : keys) {
                    connection.delete(key);
                }
                connection.drain();
            }
        }
    }

    private void scan() throws IOException, InterruptedException {
        long cursor = 0;
        do {
            session.now(server.ticker().wallMillis());
            cursor = session.scanSlots(DATABASE, slots.nextSetBit(0), slots::get, cursor,
                    item -> pending.add(item.keyAddress(), item.keyLength()));
            migrator.requireMoving(slots);
            copyPending(pending.size(), true);
        } while (cursor != 0);
    }

    private void copyChanged() throws IOException, InterruptedException {
        for (int round = 0; round < MAX_ROUNDS && pending.size() > FEW_KEYS; round++) {
            migrator.requireMoving(slots);
            copyPending(pending.size(), true);
        }
        connection.drain();
    }

    /** @param isLimited whether the limit of bytes per second applies */
    private void copyPending(int max, boolean isLimited) throws IOException, InterruptedException {
        HeapKey key = pending.next();
        for (int i = 0; i < max && key != null; i++) {
            long before = connection.written();
            copy(key);
            long bytes = connection.written() - before;
            counters.sent(bytes);
            sentKeys++;
            if (isLimited) {
                pause(migrator.rate().pauseMillis(bytes));
            }
            key = pending.next();
        }
        requireWhole();
    }

    private void pause(long millis) throws IOException, InterruptedException {
        if (millis > 0) {
            connection.flush();
            Thread.sleep(millis);
            migrator.requireMoving(slots);
            requireWhole();
        }
    }

    private void requireWhole() throws IOException {
        String broken = pending.broken();
        if (broken != null) {
            throw new TransferException(broken);
        }
    }

    private void copy(HeapKey key) throws IOException {
        byte[] name = key.bytes();
        try {
            if (export.copy(name, () -> pending.take(key))) {
                connection.restore(name, export);
                pin(key, name);
            } else {
                connection.delete(name);
                pinned.remove(key);
            }
        } finally {
            export.release();
        }
    }

    /** A value that replaces another one at the receiver has taken over its pin. */
    private void pin(HeapKey key, byte[] name) throws IOException {
        boolean isPinned = export.isPinned();
        if (isPinned ? pinned.add(key) : pinned.remove(key)) {
            connection.pin(name, isPinned);
        }
    }

    // --- the end

    /** @return false if the rest was too much: the commands run again */
    private boolean tryHandOver(int attempt) throws IOException, InterruptedException {
        copyChanged();
        int replicas = requiredReplicas();
        long limitNanos = TimeUnit.MILLISECONDS.toNanos(FIRST_HOLD_MILLIS << attempt - 1);
        long begun = server.ticker().nanoTime();
        cluster.holds().hold(slots);
        try {
            awaitOlderCommands();
            while (pending.size() > 0) {
                copyPending(1, false);
                if (server.ticker().nanoTime() - begun > limitNanos) {
                    return false;
                }
            }
            connection.drain();
            if (replicas > 0) {
                awaitReplicas(replicas, limitNanos);
            }
            if (server.ticker().nanoTime() - begun > limitNanos) {
                return false;
            }
            requireWhole();
            handOver();
            return true;
        } finally {
            cluster.holds().release(slots);
            counters.held(server.ticker().nanoTime() - begun);
        }
    }

    /** The replicas to wait for: all that are online, and at least one if the map has any, which may be promoted. */
    private int requiredReplicas() throws IOException {
        String info = connection.text("INFO", "replication");
        int online = (int) info.lines().filter(line -> line.matches("slave\\d+:.*state=online.*")).count();
        Member target = cluster.view().map().member(migrator.targetId());
        int named = target == null ? 0 : cluster.view().map().replicas(target).size();
        if (online == 0 && named > 0) {
            throw new TransferException("no replica of the receiver is online, and a promoted one would lack the keys");
        }
        // WAIT counts only those that the map names.
        return Math.min(online, named);
    }

    /** So that a replica that is promoted right after the end has the keys. */
    private void awaitReplicas(int replicas, long limitNanos) throws IOException {
        String count = connection.line("WAIT", Integer.toString(replicas),
                Long.toString(TimeUnit.NANOSECONDS.toMillis(limitNanos)));
        if (!count.matches(":\\d{1,9}") || Integer.parseInt(count.substring(1)) < replicas) {
            throw new TransferException("only " + count.substring(1) + " of the receiver's " + replicas
                    + " replicas have the keys");
        }
    }

    private void handOver() throws IOException, InterruptedException {
        migrator.requireMoving(slots);
        Handover handover = cluster.handover();
        if (handover == null) {
            throw new TransferException("this member is not connected to the controllers");
        }
        connection.rest();
        if (!handover.finish(SlotMigrator.ranges(slots), migrator.targetId(), generation, epoch)) {
            throw new TransferException("the controllers refuse to give it slots " + slots);
        }
        migrator.awaitNewOwner(slots);
        awaitNewsAtReceiver();
    }

    /** A client that is sent there earlier would be sent back. */
    private void awaitNewsAtReceiver() throws InterruptedException {
        try {
            awaitEpochAtReceiver(cluster.view().map().epoch());
        } catch (IOException lost) {
            LOG.debug("Member {} owns slots and cannot be asked whether it knows", migrator.targetId(), lost);
        }
    }

    /** Waits until the receiver has a map that is not older, or for a second. */
    private void awaitEpochAtReceiver(long wanted) throws IOException, InterruptedException {
        long begun = server.ticker().nanoTime();
        while (SlotMigrator.infoNumber(connection.text("CLUSTER", "INFO"), "cluster_current_epoch") < wanted
                && server.ticker().nanoTime() - begun < NEWS_NANOS) {
            Thread.sleep(NEWS_PAUSE_MILLIS);
        }
    }
}
