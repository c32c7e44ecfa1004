package io.varve.server.migration;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;
import io.varve.memory.item.CacheFullException;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.command.ServerState;
import io.varve.server.command.dump.KeyExport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves slots to one other member, a few at a time, on a thread of its own, as long as the map declares that slots of
 * this member migrate there. Confined to that thread, except {@link #tick}, {@link #wake} and {@link #close}.
 */
final class SlotMigrator implements Runnable, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SlotMigrator.class);
    /** Slots that move together: one scan of their shard finds the keys of all, and they are handed over once. */
    private static final int GROUP_SLOTS = 64;
    private static final long FIRST_PAUSE_MILLIS = 50;
    private static final long MAX_PAUSE_MILLIS = 2_000;

    private final ServerState server;
    private final ClusterState cluster;
    private final String targetId;
    private final Thread thread;
    private final Object monitor = new Object();
    private final TransferRate rate;
    private volatile @Nullable TargetConnection connection;
    private volatile boolean closing;

    SlotMigrator(ServerState server, ClusterState cluster, String targetId) {
        this.server = server;
        this.cluster = cluster;
        this.targetId = targetId;
        rate = new TransferRate(server.ticker(),
                () -> server.config().number("cluster-migration-max-bytes-per-second"));
        thread = Thread.ofPlatform().daemon().name("varve-migration-" + targetId.substring(0, 8)).unstarted(this);
    }

    void start() {
        thread.start();
    }

    boolean hasEnded() {
        return !thread.isAlive();
    }

    /** Periodic work: ends a transfer that is stuck. */
    void tick() {
        TargetConnection open = connection;
        if (open != null) {
            open.closeIfLate();
        }
    }

    /** The view of the cluster has changed. */
    void wake() {
        synchronized (monitor) {
            monitor.notifyAll();
        }
    }

    /** Slots of this member that move to a member, in a view in which this member may move them. */
    static BitSet slotsFor(ClusterView view, String targetId) {
        BitSet slots = new BitSet();
        if (view.isLeased() && view.me().isPrimary()) {
            view.migrating().forEach((slot, target) -> {
                if (target.id().equals(targetId)) {
                    slots.set(slot);
                }
            });
        }
        return slots;
    }

    @Override
    public void run() {
        long pauseMillis = FIRST_PAUSE_MILLIS;
        try {
            while (!closing && !slotsFor(cluster.view(), targetId).isEmpty()) {
                long moved = cluster.migrations().movedSlots();
                String failure = runConnection();
                if (failure != null && !closing) {
                    LOG.warn("Slots cannot move to member {} now: {}", targetId, failure);
                    cluster.migrations().failed(failure);
                    boolean isStuck = moved == cluster.migrations().movedSlots();
                    pauseMillis = isStuck ? Math.min(2 * pauseMillis, MAX_PAUSE_MILLIS) : FIRST_PAUSE_MILLIS;
                    pause(pauseMillis);
                }
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error bug) {
            LOG.error("The migration to member {} has failed; the next map begins it anew", targetId, bug);
        }
    }

    private void pause(long millis) throws InterruptedException {
        long begun = server.ticker().nanoTime();
        synchronized (monitor) {
            for (long left = millis; !closing && left > 0; left = millis
                    - TimeUnit.NANOSECONDS.toMillis(server.ticker().nanoTime() - begun)) {
                monitor.wait(left);
            }
        }
    }

    /** @return why it has ended; null: nothing is left to do */
    private @Nullable String runConnection() throws InterruptedException {
        ClusterView view = cluster.view();
        Member target = view.map().member(targetId);
        if (target == null) {
            return null;
        }
        try (TargetConnection open = new TargetConnection(server.ticker()); KeyExport export = new KeyExport(server)) {
            connection = open;
            open.connect(target.host(), target.port(), server.config());
            long generation = identify(open);
            LOG.info("Slots begin to move to member {} at {}", targetId, target.address());
            for (BitSet group = nextGroup(); !group.isEmpty() && !closing; group = nextGroup()) {
                new SlotTransfer(this, server, cluster, open, export, group, generation).run();
            }
            return null;
        } catch (IOException failed) {
            return failed.getMessage() == null ? failed.toString() : failed.getMessage();
        } catch (CacheFullException full) {
            return "there is no memory for a copy of a value";
        } finally {
            connection = null;
        }
    }

    /** @return the generation of the process at the other end */
    private long identify(TargetConnection open) throws IOException {
        String id = open.text("CLUSTER", "MYID");
        if (!id.equals(targetId)) {
            throw new TransferException("the server at the receiver's address is member " + id);
        }
        long generation = infoNumber(open.text("CLUSTER", "INFO"), "cluster_my_generation");
        if (generation <= 0) {
            throw new TransferException("the receiver has not registered with the controllers");
        }
        return generation;
    }

    /** @return -1 if there is no such line */
    static long infoNumber(String info, String name) {
        for (String line : info.split("\r\n")) {
            if (line.startsWith(name + ":")) {
                String value = line.substring(name.length() + 1);
                return value.matches("\\d{1,18}") ? Long.parseLong(value) : -1;
            }
        }
        return -1;
    }

    /** The next slots, which are all in one shard. */
    private BitSet nextGroup() {
        BitSet all = slotsFor(cluster.view(), targetId);
        BitSet group = new BitSet();
        int shards = server.cache().shardCount();
        int first = all.nextSetBit(0);
        for (int slot = first; slot >= 0 && group.cardinality() < GROUP_SLOTS; slot = all.nextSetBit(slot + 1)) {
            if (slot % shards == first % shards) {
                group.set(slot);
            }
        }
        return group;
    }

    // --- for a transfer

    String targetId() {
        return targetId;
    }

    /** @throws IOException if the slots do not move any more: the migration was aborted, or this server closes */
    void requireMoving(BitSet slots) throws IOException {
        BitSet missing = (BitSet) slots.clone();
        missing.andNot(slotsFor(cluster.view(), targetId));
        if (closing || !missing.isEmpty()) {
            throw new TransferException(closing
                    ? "the server is closing"
                    : "slot " + missing.nextSetBit(0)
                            + " does not move any more, or the lease has ended");
        }
    }

    /** Waits until the view is such that this member owns none of the slots. */
    void awaitNewOwner(BitSet slots) throws InterruptedException {
        synchronized (monitor) {
            while (!closing && ownsAny(slots)) {
                monitor.wait(TimeUnit.SECONDS.toMillis(1));
            }
        }
    }

    boolean ownsAny(BitSet slots) {
        ClusterView view = cluster.view();
        return slots.stream().anyMatch(slot -> view.isMe(view.owner(slot)));
    }

    TransferRate rate() {
        return rate;
    }

    /** Slots as ranges. */
    static List<SlotRange> ranges(BitSet slots) {
        List<SlotRange> ranges = new ArrayList<>();
        for (int first = slots.nextSetBit(0); first >= 0; first = slots.nextSetBit(slots.nextClearBit(first))) {
            ranges.add(new SlotRange(first, slots.nextClearBit(first) - 1));
        }
        return ranges;
    }

    @Override
    public void close() {
        closing = true;
        wake();
        TargetConnection open = connection;
        if (open != null) {
            open.close();
        }
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
