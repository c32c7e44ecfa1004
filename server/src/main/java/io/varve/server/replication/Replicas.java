package io.varve.server.replication;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.varve.memory.item.Ticker;
import io.varve.server.config.OutputBufferLimits;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.persistence.RecordedRemovals;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicas of this server. The first one turns the change stream on, together with a snapshot; the stream stays on
 * for {@code repl-backlog-ttl} after the last one has gone. Thread-safe: guarded by its own monitor, under which it
 * takes those of the stream and of a replica; the list is copied on write.
 */
public final class Replicas implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Replicas.class);
    private static final byte[] PING = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] GETACK = "*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n"
            .getBytes(StandardCharsets.US_ASCII);

    /** Sends a snapshot to the replicas that wait for one, or does nothing if it cannot begin one now. */
    @FunctionalInterface
    public interface Synchronizer {
        void begin();
    }

    /** A client that waits until replicas have acknowledged a change. */
    private record Waiter(BooleanSupplier condition, Runnable action) {}

    private final ChangeStream changes;
    private final RecordedRemovals removals;
    private final Supplier<ServerConfig> config;
    private final Ticker ticker;
    private final Backlog backlog;
    private final List<Replica> replicas = new CopyOnWriteArrayList<>();
    private final List<Waiter> waiters = new ArrayList<>();
    private @Nullable Synchronizer synchronizer;
    private final History history = new History();
    /** While commands of a primary run and are relayed, and while a snapshot begins. */
    private final ReentrantLock relaying = new ReentrantLock();
    private volatile int streamDatabase;
    /** Null if this server has no controllers. */
    private volatile @Nullable Predicate<String> members;
    private volatile boolean following;
    private volatile boolean broken;
    /** Whether the stream has been copied into the backlog since {@link #begin}. */
    private volatile boolean active;
    private volatile boolean lost;
    private boolean refusesNew;
    private long fullSyncs;
    private long partialSyncs;
    private long refusedPartialSyncs;
    private long emptySinceMillis;
    private long tickedMillis;
    private volatile long pingedMillis;

    public Replicas(ChangeStream changes, RecordedRemovals removals, Supplier<ServerConfig> config, Ticker ticker) {
        this.changes = changes;
        this.removals = removals;
        this.config = config;
        this.ticker = ticker;
        tickedMillis = nowMillis();
        backlog = new Backlog(() -> config.get().number("repl-backlog-size"), this::neededOffset, this::announce);
    }

    /** Sets what sends snapshots; once, before the first replica. */
    public void synchronizer(Synchronizer sender) {
        synchronizer = sender;
    }

    /** A clock that does not jump when the machine's time is set. */
    private long nowMillis() {
        return TimeUnit.NANOSECONDS.toMillis(ticker.nanoTime());
    }

    // --- connections

    /** A client that may become a replica: it has said something about itself. */
    public Replica introduce(ReplicaLink link, String host) {
        return new Replica(link, backlog, ticker, host);
    }

    /**
     * A replica asks for the change stream. Its connection reads the answer from its {@link Feed}.
     *
     * @param wantedId the history that it has, {@code ?} for none
     * @param offset the first byte that it has not, counted from 1
     */
    public synchronized void attach(Replica replica, String wantedId, long offset) {
        if (refusesNew) {
            replica.end();
            return;
        }
        for (Replica earlier : replicas) {
            if (!replica.memberId().isEmpty() && earlier.memberId().equals(replica.memberId())) {
                // Its network has failed: it would count twice.
                earlier.end();
            }
        }
        replicas.add(replica);
        if (active && history.has(wantedId, offset)
                && replica.resume(history.id(), history.inStream(offset - 1))) {
            partialSyncs++;
            LOG.info("Replica {}:{} continues at offset {}", replica.host(), replica.port(), offset);
            return;
        }
        if (!"?".equals(wantedId)) {
            refusedPartialSyncs++;
        }
        LOG.info("Replica {}:{} needs a snapshot", replica.host(), replica.port());
        if (synchronizer != null) {
            synchronizer.begin();
        }
    }

    /**
     * Whether replicas are disconnected that ask for the change stream: while one of them is about to become the
     * primary, none discards its data for a snapshot.
     */
    public synchronized void refuseNew(boolean value) {
        refusesNew = value;
    }

    /** Its connection has ended. */
    public synchronized void detach(Replica replica) {
        replica.disconnected();
        if (replicas.remove(replica)) {
            LOG.info("Replica {}:{} has disconnected", replica.host(), replica.port());
            emptySinceMillis = nowMillis();
        }
    }

    // --- snapshots

    /** Whether a replica waits for a snapshot. */
    public boolean isAnyWaiting() {
        return replicas.stream().anyMatch(replica -> replica.state() == Replica.State.WAITING && !replica.hasEnded());
    }

    /**
     * The replicas that wait for a snapshot, and can receive the same form of it.
     *
     * @param toMark whether its length is not known in advance
     */
    public synchronized List<Replica> waiting(boolean toMark) {
        return replicas.stream().filter(replica -> replica.state() == Replica.State.WAITING && !replica.hasEnded()
                && replica.readsToMark() == toMark).toList();
    }

    /** Begins to record changes, if necessary, before a snapshot. */
    public void prepare() {
        removals.use(this);
    }

    /**
     * A snapshot's moment: what is appended from here on is for these replicas. The caller holds the locks of all
     * shards.
     *
     * @param head follows the first line of the answer; null: they receive nothing before
     *     {@link Replica#announceLength}
     */
    public synchronized void begin(List<Replica> group, @Nullable String head) {
        if (!active) {
            backlog.begin(changes.offset());
            pingedMillis = nowMillis();
            lost = false;
            active = true;
        }
        long offset = changes.copyTo(backlog);
        fullSyncs++;
        long named = history.ofStream(offset);
        group.forEach(replica -> replica.begin(offset, "+FULLRESYNC " + history.id() + " " + named + "\r\n", head));
    }

    /**
     * The data was replaced, or has lost keys, in a way that the change stream does not say: all replicas begin anew.
     */
    public synchronized void beginAnew() {
        if (active) {
            LOG.warn("All replicas need a new snapshot");
            endHistory();
            history.renew();
            replicas.forEach(Replica::end);
        }
    }

    /** Takes a new ID: whoever knows the old one begins anew when it comes back. */
    public synchronized void renewId() {
        history.renew();
    }

    /**
     * Keys are lost, no one knows which: as {@link #beginAnew}, at the next {@link #tick}. Waits for nothing, so that a
     * caller may hold shards.
     */
    public void loseHistory() {
        lost = true;
    }

    private void endHistory() {
        lost = false;
        changes.stopCopies();
        active = false;
        removals.disuse(this);
        backlog.clear();
    }

    // --- the role

    /** The data may not be the state at the offset of the history any more, until {@link #adopt}. */
    public void breakHistory() {
        broken = true;
    }

    /** Whether the data is the state at the offset of the history. */
    public boolean isWhole() {
        return active && !broken && !changes.hasStrayed();
    }

    /** The database that the relayed stream has selected. Written by the thread that holds {@link #relaying}. */
    public void streamDatabase(int database) {
        streamDatabase = database;
    }

    /** See {@link #streamDatabase(int)}. */
    public int streamDatabase() {
        return streamDatabase;
    }

    /** Held while commands of a primary run and are relayed, and while a snapshot begins; before any shard's lock. */
    public ReentrantLock relaying() {
        return relaying;
    }

    /**
     * The calling thread follows a primary from now on. The data is still this server's; its history ends with the
     * changes so far.
     */
    public synchronized void beginFollowing() {
        following = true;
        changes.beginRelay(Thread.currentThread());
    }

    /** The data is the primary's state at an offset of its history: replicas of this server begin anew. */
    public synchronized void adopt(String id, long offset) {
        beginAnew();
        history.adopt(id, offset, changes.offset());
        broken = false;
        keepBacklog();
    }

    /**
     * The data of a replica that starts is the state at an offset of a history.
     *
     * @param database that the stream has selected
     */
    public synchronized void restore(String id, long offset, int database) {
        following = true;
        // Nothing of what this server does before it follows belongs to the history.
        changes.beginRelay(Thread.currentThread());
        history.adopt(id, offset, changes.offset());
        streamDatabase = database;
        keepBacklog();
    }

    /**
     * The primary continues the history that this server has.
     *
     * @param id its ID from now on; null: the same
     */
    public synchronized void goOn(@Nullable String id) {
        if (id != null && !id.equals(history.id())) {
            history.rename(id, offset() + 1);
            // They come back, and hear the new ID.
            replicas.forEach(Replica::end);
        }
        keepBacklog();
    }

    /**
     * This server decides about its data again, under a new ID.
     *
     * @param isWhole whether the data is the state at the offset of the history, unless changes have strayed
     * @return whether it is that state, so that other replicas can continue
     */
    public synchronized boolean endFollowing(boolean isWhole) {
        if (!following) {
            return isWhole;
        }
        following = false;
        broken = false;
        boolean canContinue = !changes.endRelay() && isWhole;
        emptySinceMillis = nowMillis();
        if (canContinue) {
            history.rename(null, offset() + 1);
            replicas.forEach(Replica::end);
        } else {
            beginAnew();
        }
        return canContinue;
    }

    /** As in Redis, a replica always has a backlog: it may become the primary. */
    private void keepBacklog() {
        if (!active) {
            removals.use(this);
            backlog.begin(changes.offset());
            changes.copyTo(backlog);
            lost = false;
            active = true;
        }
    }

    // --- the stream

    private long neededOffset() {
        long needed = Long.MAX_VALUE;
        for (Replica replica : replicas) {
            needed = Math.min(needed, replica.needed());
        }
        return needed;
    }

    private void announce() {
        for (Replica replica : replicas) {
            if (replica.isOnline()) {
                replica.announce();
            }
        }
    }

    // --- acknowledgements

    /** Sets which members of the cluster may become the primary, by their IDs; only these count. */
    public void named(Predicate<String> memberIds) {
        members = memberIds;
    }

    private boolean counts(Replica replica) {
        Predicate<String> named = members;
        return replica.isOnline() && !replica.hasEnded() && (named == null || named.test(replica.memberId()));
    }

    /** How many replicas have acknowledged the stream up to an offset. */
    public int acknowledged(long offset) {
        int count = 0;
        for (Replica replica : replicas) {
            count += counts(replica) && replica.acknowledged() >= offset ? 1 : 0;
        }
        return count;
    }

    /** How many replicas have the stream on disk up to an offset. */
    public int acknowledgedOnDisk(long offset) {
        int count = 0;
        for (Replica replica : replicas) {
            count += counts(replica) && replica.onDisk() >= offset ? 1 : 0;
        }
        return count;
    }

    /**
     * Asks the replicas how far they are. Runs the action after the answer that makes the condition hold, perhaps at
     * once.
     */
    public void whenAcknowledged(BooleanSupplier condition, Runnable action) {
        synchronized (this) {
            waiters.add(new Waiter(condition, action));
        }
        if (condition.getAsBoolean()) {
            runWaiters();
        } else {
            askHowFar();
        }
    }

    /** Has all replicas say how far they are. */
    public void askHowFar() {
        if (!following) {
            changes.copyOnly(GETACK);
        }
    }

    /** Forgets an action that waits. */
    public synchronized void cancel(Runnable action) {
        waiters.removeIf(waiter -> waiter.action.equals(action));
    }

    /** A replica has said how far it is. */
    public void acknowledge(Replica replica, long offset) {
        replica.acknowledge(history.inStream(offset));
        runWaiters();
    }

    /** A replica has said how far it is, and how much of that is on its disk. */
    public void acknowledge(Replica replica, long offset, long onDisk) {
        replica.acknowledgeOnDisk(history.inStream(onDisk));
        acknowledge(replica, offset);
    }

    private void runWaiters() {
        List<Runnable> due = new ArrayList<>();
        synchronized (this) {
            waiters.removeIf(waiter -> {
                boolean isDue = waiter.condition.getAsBoolean();
                if (isDue) {
                    due.add(waiter.action);
                }
                return isDue;
            });
        }
        due.forEach(Runnable::run);
    }

    /** Whether enough replicas are up to date for a write: {@code min-replicas-to-write}. */
    public boolean isWritable() {
        long wanted = config.get().minReplicasToWrite();
        return wanted == 0 || following || good() >= wanted;
    }

    /** How many replicas are up to date: they have acknowledged something within {@code min-replicas-max-lag}. */
    public long good() {
        long maxLagMillis = TimeUnit.SECONDS.toMillis(config.get().number("min-replicas-max-lag"));
        return replicas.stream()
                .filter(replica -> counts(replica) && (maxLagMillis == 0 || replica.lagMillis() <= maxLagMillis))
                .count();
    }

    // --- periodic work

    /** Called by the maintenance thread, several times a second. */
    public void tick() {
        long now = nowMillis();
        if (now - tickedMillis < TimeUnit.SECONDS.toMillis(1)) {
            return;
        }
        tickedMillis = now;
        if (lost || backlog.hasFailed()) {
            beginAnew();
        }
        ping(now);
        replicas.forEach(this::check);
        backlog.releaseSurplus();
        forgetHistory(now);
        Synchronizer sender = synchronizer;
        if (sender != null && isAnyWaiting()) {
            sender.begin();
        }
    }

    private void ping(long now) {
        boolean hasOnline = !following && replicas.stream().anyMatch(Replica::isOnline);
        if (hasOnline && now - pingedMillis >= TimeUnit.SECONDS.toMillis(
                config.get().number("repl-ping-replica-period"))) {
            pingedMillis = now;
            changes.copyOnly(PING);
        }
    }

    private void check(Replica replica) {
        replica.keepAlive();
        if (replica.isSilent(timeoutMillis())) {
            LOG.warn("Replica {}:{} is disconnected: it has sent nothing for {} ms", replica.host(),
                    replica.port(), replica.lagMillis());
            replica.end();
            return;
        }
        long needed = replica.needed();
        if (needed != Long.MAX_VALUE && isTooFarBehind(replica, backlog.end() - needed)) {
            LOG.warn("Replica {}:{} is disconnected: it is {} bytes behind, more than client-output-buffer-limit"
                    + " allows", replica.host(), replica.port(), backlog.end() - needed);
            replica.end();
        }
    }

    /** As in Redis, no limit is below the bytes that the backlog keeps anyway. */
    private boolean isTooFarBehind(Replica replica, long bytes) {
        OutputBufferLimits limits = config.get().outputBufferLimits();
        long kept = config.get().number("repl-backlog-size");
        boolean isOverSoft = limits.replicaSoftBytes() > 0 && bytes > Math.max(limits.replicaSoftBytes(), kept);
        long overMillis = replica.overSoftLimit(isOverSoft);
        return limits.replicaHardBytes() > 0 && bytes > Math.max(limits.replicaHardBytes(), kept)
                || isOverSoft && overMillis > TimeUnit.SECONDS.toMillis(limits.replicaSoftSeconds());
    }

    /** How long a connection may make no progress. */
    public long timeoutMillis() {
        return TimeUnit.SECONDS.toMillis(config.get().number("repl-timeout"));
    }

    private synchronized void forgetHistory(long now) {
        long ttl = config.get().number("repl-backlog-ttl");
        if (active && !following && ttl > 0 && replicas.isEmpty()
                && now - emptySinceMillis > TimeUnit.SECONDS.toMillis(ttl)) {
            LOG.info("The replication backlog is freed: there was no replica for {} s", ttl);
            endHistory();
            history.renew();
        }
    }

    // --- figures

    /** All replicas, in the order in which they have asked. */
    public List<Replica> all() {
        return replicas;
    }

    /** The ID of the history of changes. */
    public String id() {
        return history.id();
    }

    /** The ID of the changes before {@link #previousEnd}; null if it was never another. */
    public @Nullable String previousId() {
        return history.previousId();
    }

    /** The offset from which on the changes have their present ID; -1 if it was never another. */
    public long previousEnd() {
        return history.previousEnd();
    }

    /** The offset in the history: 0 before the first replica of a server that was never one itself. */
    public long offset() {
        return history.ofStream(changes.offset());
    }

    /** The offset in the history of an offset of the change stream. */
    public long named(long streamOffset) {
        return history.ofStream(streamOffset);
    }

    /** The offset in the history up to which a replica has run the changes. */
    public long acknowledgedBy(Replica replica) {
        return history.ofStream(replica.acknowledged());
    }

    /** Whether there is a backlog. */
    public boolean isActive() {
        return active;
    }

    /** The offset of the backlog's first byte, counted from 1; 0 if there is no backlog. */
    public long backlogStart() {
        return active ? history.ofStream(backlog.start()) + 1 : 0;
    }

    /** How many bytes of the stream the backlog has. */
    public long backlogLength() {
        return active ? backlog.end() - backlog.start() : 0;
    }

    /** The memory of the backlog. */
    public long backlogBytes() {
        return backlog.bytes();
    }

    public synchronized long fullSyncs() {
        return fullSyncs;
    }

    public synchronized long partialSyncs() {
        return partialSyncs;
    }

    public synchronized long refusedPartialSyncs() {
        return refusedPartialSyncs;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (active) {
                endHistory();
            }
        }
        backlog.close();
    }
}
