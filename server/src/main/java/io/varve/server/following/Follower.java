package io.varve.server.following;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;

import io.varve.server.clustering.ClusterState;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.Version;
import io.varve.server.command.persistence.SnapshotLoader;
import io.varve.server.persistence.AppendLog;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.replication.ReplicaRole;
import io.varve.server.replication.Replicas;
import io.varve.server.system.FailureReason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a primary on a thread of its own, from {@link #follow} to {@link #followNone}: connects, loads a snapshot if
 * the primary has to send one, runs the changes, and connects again after a failure. Thread-safe: guarded by its own
 * monitor; the volatile fields are written by its thread.
 */
public final class Follower implements ReplicaRole {
    private static final Logger LOG = LoggerFactory.getLogger(Follower.class);
    private static final long RETRY_MILLIS = 1000;
    /** The pause after a failure that the next attempt will probably meet again. */
    private static final long LONG_RETRY_MILLIS = 10_000;
    private static final long ACKNOWLEDGE_MILLIS = 1000;
    /** The pause while another snapshot is being saved. */
    private static final long BUSY_MILLIS = 100;
    /** Never started: until this server follows, expired items exist for no thread. */
    private static final Thread NO_THREAD = Thread.ofPlatform().unstarted(() -> {});
    private static final String NO_HISTORY = "?";

    private final ServerState server;
    private final CommandTable table;
    private final IntSupplier ownPort;
    private final Replicas replicas;
    private final ChangeStream changes;
    private final Failover failover;
    private final List<Runnable> onDone = new ArrayList<>();
    private @Nullable Thread thread;
    private @Nullable Target target;
    /** The last one that has become the primary in the place of this server. Confined to its thread. */
    private @Nullable Target handedTo;
    /** Whether a snapshot that has been received as a whole is being loaded: that needs no primary. */
    private volatile boolean loading;
    /** The last one that this server has been connected to. */
    private volatile @Nullable Target synchronizedWith;
    /** The last target: until this server takes writes again, reports name it. */
    private volatile @Nullable Target shown;
    private boolean closing;
    private volatile boolean isReplica;
    private volatile @Nullable PrimaryConnection connection;
    private volatile State state = State.CONNECT;
    private volatile long receivedMillis;
    private volatile long downMillis;
    private volatile long snapshotBytes;
    private volatile long snapshotRead;
    private volatile long refused;
    private volatile String failure = "";
    private volatile long acknowledgedMillis;
    /** Whether the data has to be loaded anew, because it may not be the primary's. */
    private boolean mustLoad;
    /** Whether that will probably not fail again in the same way. */
    private boolean mayLoadSoon;
    private long retryMillis;

    /** @param ownPort the port at which this server listens */
    public Follower(ServerState server, CommandTable table, IntSupplier ownPort) {
        this.server = server;
        this.table = table;
        this.ownPort = ownPort;
        replicas = server.replicas();
        changes = server.changes();
        failover = new Failover(replicas, changes, server.ticker(),
                new Failover.Handing() {
                    @Override
                    public void handTo(String host, int port, Runnable onEnd) {
                        follow(new Target(host, port, onEnd));
                    }

                    @Override
                    public void cancel() {
                        hangUp(connection);
                    }
                }, server::awaitOlderCommands);
        // No client may write before it follows, and what it loads at the start is the primary's.
        ClusterState cluster = server.cluster();
        isReplica = !server.config().text("replicaof").isEmpty()
                || cluster != null && cluster.isControlled() && cluster.view().primary() != null;
        if (isReplica) {
            server.cache().follow(NO_THREAD);
        }
    }

    /** A clock that does not jump when the machine's time is set. */
    private long nowMillis() {
        return TimeUnit.NANOSECONDS.toMillis(server.ticker().nanoTime());
    }

    // --- the role

    @Override
    public void follow(String host, int port) {
        follow(new Target(host, port, null));
    }

    @Override
    public void followMoved(String host, int port) {
        Target next = new Target(host, port, null);
        synchronized (this) {
            if (synchronizedWith != null && synchronizedWith == shown) {
                synchronizedWith = next;
            }
        }
        follow(next);
    }

    private void follow(Target next) {
        List<Runnable> overtaken;
        PrimaryConnection former;
        synchronized (this) {
            if (closing) {
                return;
            }
            former = connection; // Before the thread knows the next target, whose connection must stay open.
            overtaken = takeDone();
            target = next;
            shown = next;
            isReplica = true;
            start();
            notifyAll();
        }
        overtaken.forEach(Runnable::run);
        server.endBlockedClients();
        hangUp(former);
    }

    private synchronized void start() {
        if (thread == null) {
            downMillis = nowMillis();
            Thread started = Thread.ofPlatform().name("varve-replica").daemon().unstarted(this::run);
            thread = started;
            started.start();
        }
    }

    @Override
    public void followNone(Runnable done) {
        synchronized (this) {
            target = null;
            if (isReplica && !closing) {
                // It has the data of a replica that has stopped, and has not followed since.
                start();
            }
            if (thread != null) {
                onDone.add(done);
                notifyAll();
                hangUp(connection);
                return;
            }
        }
        done.run();
    }

    @Override
    public @Nullable String failOver(@Nullable String host, int port, boolean force, long timeoutMillis) {
        return failover.begin(host, port, force, timeoutMillis);
    }

    @Override
    public boolean abortFailover() {
        return failover.abort();
    }

    @Override
    public String failoverState() {
        return failover.text();
    }

    @Override
    public @Nullable Status status() {
        Target now = shown;
        return now == null || !isReplica
                ? null
                : new Status(now.host(), now.port(), state, nowMillis() - receivedMillis, nowMillis() - downMillis,
                        snapshotBytes, snapshotRead, refused, failure);
    }

    @Override
    public boolean isReplica() {
        return isReplica;
    }

    @Override
    public boolean isUp() {
        return state == State.CONNECTED;
    }

    @Override
    public boolean hasPrimarysData() {
        Target now = shown;
        return now != null && isReplica && synchronizedWith == now && replicas.isWhole();
    }

    @Override
    public boolean isLoading() {
        return loading;
    }

    private static void hangUp(@Nullable PrimaryConnection open) {
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void tick() {
        if (!isReplica) {
            return;
        }
        // Those that passed the check before this server became a replica.
        server.endBlockedClients();
        PrimaryConnection open = connection;
        if (open != null && state == State.CONNECTED && !replicas.isActive()) {
            // The history was lost, such as for want of memory: it begins anew with all data.
            open.close();
        } else if (open != null && state == State.CONNECTED
                && nowMillis() - acknowledgedMillis >= ACKNOWLEDGE_MILLIS) {
            try {
                acknowledge(open);
            } catch (IOException lost) {
                // The thread that reads meets the failure, too, and says it.
                open.close();
            }
        }
    }

    private void acknowledge(PrimaryConnection to) throws IOException {
        acknowledgedMillis = nowMillis();
        AppendLog log = server.log();
        // In this order: what is on disk by then is not behind the end of the stream.
        long durable = log.durable();
        long end = changes.offset();
        if (log.isOpen()) {
            to.acknowledge(replicas.named(end), replicas.named(Math.min(durable, end)));
        } else {
            to.acknowledge(replicas.named(end));
        }
    }

    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closing = true;
            target = null;
            running = thread;
            notifyAll();
        }
        hangUp(connection);
        if (running != null) {
            running.interrupt();
            try {
                running.join();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // --- its thread

    private void run() {
        server.cache().follow(Thread.currentThread());
        replicas.beginFollowing();
        server.limitMemory();
        try (StreamRunner runner = new StreamRunner(server, table)) {
            do {
                Target now = wanted();
                while (now != null) {
                    attempt(now, runner);
                    now = awaitNext(now);
                }
            } while (!hasEnded(runner));
        }
    }

    private void attempt(Target primary, StreamRunner runner) {
        retryMillis = RETRY_MILLIS;
        try {
            follow(primary, runner);
        } catch (IOException | RuntimeException | Error failed) {
            report(primary, failed);
            if (isHanding(primary)) {
                takeBack(primary);
            }
        } finally {
            connection = null;
            if (state == State.CONNECTED) {
                downMillis = nowMillis();
                // As in Redis, at once: it may be a short failure of the network.
                retryMillis = mustLoad && !mayLoadSoon ? LONG_RETRY_MILLIS : 0;
                mayLoadSoon = false;
                server.primaryLost();
            }
            state = State.CONNECT;
            refused = runner.refused();
        }
    }

    /** Whether the primary is a replica that has not agreed yet to become the primary. */
    private boolean isHanding(Target primary) {
        return primary.onHanded() != null && primary != handedTo;
    }

    /** The replica has not become the primary: this server remains it. */
    private synchronized void takeBack(Target replica) {
        Runnable onHanded = Objects.requireNonNull(replica.onHanded());
        if (target == replica) {
            target = null;
            onDone.add(onHanded);
        } else {
            onHanded.run();
        }
    }

    private void report(Target primary, Throwable failed) {
        if (wanted() != primary) {
            return;
        }
        String reason = FailureReason.of(failed);
        if (!reason.equals(failure)) {
            failure = reason;
            if (!(failed instanceof IOException)) {
                LOG.error("The connection to the primary {}:{} is lost", primary.host(), primary.port(), failed);
            } else {
                LOG.warn("The connection to the primary {}:{} is lost: {}", primary.host(), primary.port(), reason);
            }
        }
    }

    private synchronized @Nullable Target wanted() {
        return target;
    }

    /** Waits before the next attempt at the last target; not for another one. @return null if there is none */
    private synchronized @Nullable Target awaitNext(Target last) {
        long end = server.ticker().nanoTime() + TimeUnit.MILLISECONDS.toNanos(retryMillis);
        long left = retryMillis;
        try {
            while (target != null && target == last && left > 0) {
                wait(left);
                left = TimeUnit.NANOSECONDS.toMillis(end - server.ticker().nanoTime());
            }
        } catch (InterruptedException interrupted) {
            // Only close interrupts: there is no target then.
            Thread.currentThread().interrupt();
        }
        return target;
    }

    /** Makes this server a primary, unless it has to follow again. */
    private boolean hasEnded(StreamRunner runner) {
        List<Runnable> done;
        synchronized (this) {
            if (target != null) {
                return false;
            }
            if (closing) {
                // A snapshot may still be saved, and with it the history.
                thread = null;
                return true;
            }
            boolean isWhole = replicas.endFollowing(!mustLoad && !runner.isInTransaction());
            server.cache().follow(null);
            isReplica = false;
            server.limitMemory();
            failure = "";
            thread = null;
            done = takeDone();
            LOG.info("This server is a primary now, with the history {} from offset {}", replicas.id(),
                    replicas.offset());
            if (!isWhole) {
                // The log lacks changes that were made here.
                LOG.info("The log is rewritten if there is one: {}", server.logLifecycle().rewrite());
            }
        }
        done.forEach(Runnable::run);
        return true;
    }

    private List<Runnable> takeDone() {
        List<Runnable> done = List.copyOf(onDone);
        onDone.clear();
        return done;
    }

    private void follow(Target primary, StreamRunner runner) throws IOException {
        state = State.CONNECTING;
        int timeoutMillis = (int) Math.min(Integer.MAX_VALUE, replicas.timeoutMillis());
        try (PrimaryConnection open = new PrimaryConnection()) {
            connection = open;
            if (wanted() != primary) {
                return;
            }
            open.connect(primary.host(), primary.port(), server.config(), timeoutMillis);
            open.introduce(server.config(), ownPort.getAsInt(), Version.REDIS, server.cluster());
            synchronize(open, primary, runner);
            state = State.CONNECTED;
            synchronizedWith = primary;
            failure = "";
            acknowledge(open);
            read(open, primary, runner);
        }
    }

    private void synchronize(PrimaryConnection open, Target primary, StreamRunner runner) throws IOException {
        boolean hasHistory = replicas.isActive() && !mustLoad;
        String answer = isHanding(primary)
                ? open.ask("PSYNC", replicas.id(), Long.toString(replicas.offset() + 1), "FAILOVER")
                : hasHistory
                        ? open.ask("PSYNC", replicas.id(), Long.toString(replicas.offset() + 1))
                        : open.ask("PSYNC", NO_HISTORY, "-1");
        String[] words = answer.split(" ", -1);
        if (words[0].equals("+CONTINUE") && hasHistory) {
            replicas.goOn(words.length > 1 ? words[1] : null);
            runner.resume();
            LOG.info("The primary {}:{} continues after offset {}", primary.host(), primary.port(), replicas.offset());
        } else if (words[0].equals("+FULLRESYNC") && words.length == 3) {
            load(open, primary, runner, words[1], PrimaryConnection.offset(words[2]));
        } else {
            throw new IOException("the primary has answered PSYNC by " + answer);
        }
        receivedMillis = nowMillis();
        if (isHanding(primary)) {
            handed(primary);
        }
    }

    /** The replica has become the primary: from now on it is one as any other. */
    private void handed(Target primary) {
        handedTo = primary;
        if (primary.onHanded() != null) {
            server.remember(primary.host() + " " + primary.port());
            primary.onHanded().run();
        }
    }

    private void breakHistory() {
        mustLoad = true;
        replicas.breakHistory();
    }

    // --- the snapshot

    private void load(PrimaryConnection open, Target primary, StreamRunner runner, String id, long offset)
            throws IOException {
        Path file = Path.of(server.config().text("dir"), "temp-primary-" + ProcessHandle.current().pid() + "-"
                + ownPort.getAsInt() + ".rdb");
        if (!id.equals(replicas.id())) {
            synchronizedWith = null;
        }
        state = State.SYNC;
        snapshotRead = 0;
        snapshotBytes = 0;
        LOG.info("Loading the data of the primary {}:{} at offset {}", primary.host(), primary.port(), offset);
        long start = server.ticker().nanoTime();
        try {
            open.receive(file, bytes -> snapshotBytes = bytes, bytes -> {
                snapshotRead = bytes;
                receivedMillis = nowMillis();
            });
            breakHistory();
            loading = true;
            int database = loadFile(open, file);
            replicas.adopt(id, offset);
            runner.begin(database);
            mustLoad = false;
            synchronizedWith = primary;
            LOG.info("Loaded the data of the primary {}:{}, {} bytes, in {} s", primary.host(), primary.port(),
                    snapshotRead,
                    String.format(Locale.ROOT, "%.3f",
                            (server.ticker().nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1)));
        } finally {
            loading = false;
            Files.deleteIfExists(file);
        }
    }

    /** @return the database that the stream has selected */
    private int loadFile(PrimaryConnection open, Path file) throws IOException {
        CompletableFuture<@Nullable String> done = new CompletableFuture<>();
        int[] database = new int[1];
        while (!server.snapshots().start(false, () -> database[0] = replaceData(file), done::complete)) {
            // Another snapshot is being saved.
            pause();
            open.keepAlive();
        }
        boolean isAlive = true;
        while (true) {
            try {
                String failed = done.get(RETRY_MILLIS, TimeUnit.MILLISECONDS);
                if (failed != null) {
                    retryMillis = LONG_RETRY_MILLIS;
                    throw new IOException("the primary's data could not be loaded: " + failed);
                }
                return database[0];
            } catch (TimeoutException notYet) {
                if (isAlive) {
                    isAlive = open.tryToKeepAlive();
                }
            } catch (InterruptedException interrupted) {
                // The snapshot thread may be in the middle: whoever closes the server ends it first.
                Thread.currentThread().interrupt();
                throw new IOException("the server is closing", interrupted);
            } catch (ExecutionException impossible) {
                throw new IOException(impossible);
            }
        }
    }

    private static void pause() throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(BUSY_MILLIS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("the server is closing", interrupted);
        }
    }

    private int replaceData(Path file) throws Exception {
        int[] database = new int[1];
        server.load().begin();
        try {
            server.logLifecycle().replaceData(this::flush,
                    () -> database[0] = SnapshotLoader.loadFromPrimary(server, file));
            return database[0];
        } catch (Exception failed) {
            // A part of it is no one's data.
            server.cache().flushAll();
            throw failed;
        } finally {
            server.load().end();
        }
    }

    private void flush() {
        changes.forgetStrayed();
        server.cache().flushAll();
    }

    // --- the changes

    private void read(PrimaryConnection open, Target primary, StreamRunner runner) throws IOException {
        try (StreamBuffer buffer = new StreamBuffer()) {
            while (wanted() == primary) {
                buffer.fill(open.input());
                receivedMillis = nowMillis();
                run(buffer, runner);
                refused = runner.refused();
                if (runner.takeAcknowledgementWanted()) {
                    acknowledge(open);
                }
                if (changes.hasStrayed() && server.config().bool("replica-read-only")) {
                    breakHistory();
                    mayLoadSoon = true;
                    throw new IOException("the data has changed here while this server became a replica");
                }
            }
        }
    }

    private void run(StreamBuffer buffer, StreamRunner runner) throws IOException {
        boolean done = false;
        try {
            runner.run(buffer);
            done = true;
        } finally {
            if (!done) {
                // Some commands may have run that were not relayed.
                breakHistory();
                retryMillis = LONG_RETRY_MILLIS;
            }
        }
    }
}
