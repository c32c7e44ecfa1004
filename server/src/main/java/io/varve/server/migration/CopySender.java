package io.varve.server.migration;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Ticker;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.clustering.KeyCopies;
import io.varve.server.command.ServerState;
import io.varve.server.command.dump.KeyExport;
import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the copies of hot keys at one other member up to date, on a thread of its own. Its monitor guards what is to be
 * sent; the connection is confined to the thread, except {@link #tick} and {@link #close}.
 *
 * <p>A key is taken from the pending ones under the lock of its shard, before it is copied. So each change is in the
 * copy, or the key is pending again. The lease of all copies is renewed only after all keys were sent that were pending
 * when the last stamp of the holder had arrived, and while this member owns them all.
 */
final class CopySender implements Runnable, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CopySender.class);
    /** A part of the lease, so that some delay ends none. */
    private static final long RENEW_NANOS = KeyCopies.LEASE_NANOS / 4;
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final ServerState server;
    private final ClusterState cluster;
    private final Ticker clock;
    private final String holderId;
    private final Thread thread;
    private final Object monitor = new Object();
    /** The keys that the holder shall have. Guarded by the monitor. */
    private final Set<HeapKey> assigned = new HashSet<>();
    /** The keys that it does not have as they are. Guarded by the monitor. */
    private final Set<HeapKey> pending = new LinkedHashSet<>();
    /** The keys that it has, perhaps as they were. Guarded by the monitor. */
    private final Set<HeapKey> stored = new HashSet<>();
    /** The keys for which it had no memory. Confined to the thread. */
    private final Set<HeapKey> refused = new HashSet<>();
    /** Guarded by the monitor. */
    private boolean isLeased;
    /** Guarded by the monitor. */
    private long leasedUntilNanos;
    private volatile @Nullable TargetConnection connection;
    private volatile boolean closing;

    CopySender(ServerState server, ClusterState cluster, String holderId) {
        this.server = server;
        this.cluster = cluster;
        this.holderId = holderId;
        clock = server.ticker();
        thread = Thread.ofPlatform().daemon().name("varve-copies-" + holderId.substring(0, 8)).unstarted(this);
    }

    void start() {
        thread.start();
    }

    /** Sets the keys that the holder shall have. */
    void assign(Set<HeapKey> keys) {
        synchronized (monitor) {
            for (HeapKey key : keys) {
                if (assigned.add(key)) {
                    pending.add(key);
                }
            }
            for (HeapKey key : Set.copyOf(assigned)) {
                if (!keys.contains(key)) {
                    assigned.remove(key);
                    pending.add(key);
                }
            }
            monitor.notifyAll();
        }
    }

    /** A key has changed. Its shard is locked. */
    void changed(HeapKey key) {
        synchronized (monitor) {
            if (assigned.contains(key) && pending.add(key)) {
                monitor.notifyAll();
            }
        }
    }

    /** Nothing is to be sent, now or later. */
    boolean isIdle() {
        synchronized (monitor) {
            return assigned.isEmpty() && pending.isEmpty();
        }
    }

    boolean hasEnded() {
        return !thread.isAlive();
    }

    /** Whether the holder serves a copy of a key, as far as this member knows. */
    boolean serves(HeapKey key) {
        synchronized (monitor) {
            return isLeased && clock.nanoTime() - leasedUntilNanos < 0 && stored.contains(key);
        }
    }

    /** Periodic work: ends a connection that is stuck. */
    void tick() {
        TargetConnection open = connection;
        if (open != null) {
            open.closeIfLate();
        }
    }

    @Override
    public void run() {
        long pauseNanos = FIRST_PAUSE_NANOS;
        try {
            while (!closing) {
                long begun = clock.nanoTime();
                String failure = runConnection();
                drop();
                if (failure != null && !closing) {
                    LOG.debug("Member {} gets no copies of hot keys now: {}", holderId, failure);
                    boolean wasLong = clock.nanoTime() - begun > MAX_PAUSE_NANOS;
                    pauseNanos = wasLong ? FIRST_PAUSE_NANOS : Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
                    pause(pauseNanos);
                }
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error bug) {
            LOG.error("Copies of hot keys at member {} begin anew", holderId, bug);
        }
    }

    /** The connection is lost: the next one sends all keys. */
    private void drop() {
        synchronized (monitor) {
            isLeased = false;
            stored.clear();
            pending.clear();
            pending.addAll(assigned);
        }
        refused.clear();
    }

    private void pause(long nanos) throws InterruptedException {
        long begun = clock.nanoTime();
        synchronized (monitor) {
            for (long left = nanos; !closing && left > 0; left = nanos - (clock.nanoTime() - begun)) {
                TimeUnit.NANOSECONDS.timedWait(monitor, left);
            }
        }
    }

    /** @return why it has ended; null: nothing is left to do */
    private @Nullable String runConnection() throws InterruptedException {
        Member holder = cluster.view().map().member(holderId);
        if (holder == null) {
            return "it is no member";
        }
        try (TargetConnection open = new TargetConnection(clock); KeyExport export = new KeyExport(server)) {
            connection = open;
            open.connect(holder.host(), holder.port(), server.config());
            String id = open.text("CLUSTER", "MYID");
            if (!id.equals(holderId)) {
                throw new TransferException("the server at its address is member " + id);
            }
            String stamp = texts(open.texts("VARVE.COPYLEASE", myId())).getFirst();
            long renewed = clock.nanoTime() - RENEW_NANOS;
            while (!closing) {
                sendPending(open, export);
                long now = clock.nanoTime();
                if (now - renewed >= RENEW_NANOS) {
                    stamp = renew(open, stamp);
                    renewed = now;
                }
                open.rest();
                awaitWork(renewed + RENEW_NANOS);
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

    private String myId() {
        return cluster.view().me().id();
    }

    private static List<String> texts(List<byte[]> reply) {
        return reply.stream().map(text -> new String(text, StandardCharsets.ISO_8859_1)).toList();
    }

    private void awaitWork(long untilNanos) throws InterruptedException {
        synchronized (monitor) {
            for (long left = untilNanos - clock.nanoTime(); !closing && pending.isEmpty() && left > 0; left = untilNanos
                    - clock.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(monitor, left);
            }
        }
    }

    /** Sends all keys that are pending now. */
    private void sendPending(TargetConnection open, KeyExport export) throws IOException {
        List<HeapKey> keys;
        synchronized (monitor) {
            keys = List.copyOf(pending);
        }
        for (HeapKey key : keys) {
            if (closing) {
                return;
            }
            send(key, open, export);
        }
    }

    private void send(HeapKey key, TargetConnection open, KeyExport export) throws IOException {
        byte[] name = key.bytes();
        boolean[] isWanted = {false};
        try {
            boolean exists = export.copy(name, () -> isWanted[0] = take(key));
            String error = exists && isWanted[0] ? open.copy(name, myId(), export) : "-";
            if (error.startsWith("-")) {
                // The holder must not keep an older value.
                open.deleteCopy(name, myId());
            }
            stored(key, !error.startsWith("-"));
            if (error.startsWith("-OOM")) {
                refused.add(key);
            } else if (error.length() > 1 && error.startsWith("-")) {
                throw new TransferException("it refuses a copy: " + error.substring(1));
            }
            cluster.replicated().sent();
        } finally {
            export.release();
        }
    }

    /** @return whether the holder shall have the key */
    private boolean take(HeapKey key) {
        synchronized (monitor) {
            pending.remove(key);
            // It has the key already if this member has to answer for it.
            stored.add(key);
            return assigned.contains(key);
        }
    }

    private void stored(HeapKey key, boolean isThere) {
        synchronized (monitor) {
            if (!isThere) {
                stored.remove(key);
            }
        }
    }

    /** @return the next stamp */
    private String renew(TargetConnection open, String stamp) throws IOException {
        if (!ownsAll()) {
            // The keys of slots that have moved are about to be deleted there.
            return stamp;
        }
        long begun = clock.nanoTime();
        List<String> reply = texts(open.texts("VARVE.COPYLEASE", myId(), stamp));
        synchronized (monitor) {
            isLeased = true;
            leasedUntilNanos = begun + KeyCopies.LEASE_NANOS - RENEW_NANOS;
            for (String lost : reply.subList(1, reply.size())) {
                HeapKey key = new HeapKey(0, lost);
                stored.remove(key);
                refused.add(key);
            }
            refused.retainAll(assigned);
            pending.addAll(refused);
        }
        refused.clear();
        return reply.getFirst();
    }

    private boolean ownsAll() {
        ClusterView view = cluster.view();
        if (!cluster.hasLease() || !view.me().isPrimary()) {
            return false;
        }
        synchronized (monitor) {
            return stored.stream().allMatch(key -> view.isMe(view.owner(HashSlot.of(key.bytes()))));
        }
    }

    @Override
    public void close() {
        synchronized (monitor) {
            closing = true;
            monitor.notifyAll();
        }
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
