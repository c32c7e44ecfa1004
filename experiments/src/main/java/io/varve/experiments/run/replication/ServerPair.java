package io.varve.experiments.run.replication;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.varve.experiments.plan.ReplicationLoad.Pair;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.context.ServerStarter;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.jspecify.annotations.Nullable;

/**
 * A primary and a server that becomes its replica, each in a process of its own. Confined to the thread that does the
 * run.
 */
final class ServerPair implements AutoCloseable {
    private static final String LOG = "server.log";
    private static final long SIGNAL_SECONDS = 10;

    private final RunContext context;
    private final Pair names;
    private final Path directory;
    private final Target primary;
    private final Target replica;
    private final RespConnection atPrimary;
    private final RespConnection atReplica;

    private ServerPair(RunContext context, Pair names, Path directory, Target primary, Target replica,
            RespConnection atPrimary, RespConnection atReplica) {
        this.context = context;
        this.names = names;
        this.directory = directory;
        this.primary = primary;
        this.replica = replica;
        this.atPrimary = atPrimary;
        this.atReplica = atReplica;
    }

    /** Starts both; the second one does not follow yet. */
    static ServerPair start(RunContext context, ServerStarter primaries, ServerStarter replicas, Pair names,
            Path directory) throws IOException {
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        try {
            Target primary = primaries.start(names.primary(), Files.createDirectories(directory.resolve("primary")));
            opened.push(primary);
            Target replica = replicas.start(names.replica(), Files.createDirectories(directory.resolve("replica")));
            opened.push(replica);
            RespConnection atPrimary = new RespConnection(primary.host(), primary.port());
            opened.push(atPrimary);
            RespConnection atReplica = new RespConnection(replica.host(), replica.port());
            opened.push(atReplica);
            ServerPair pair = new ServerPair(context, names, directory, primary, replica, atPrimary, atReplica);
            context.load.putIfAbsent("started-by " + names.primary(), primary.startedBy());
            context.load.putIfAbsent("version " + names.primary(), pair.primaryInfo().serverVersion());
            return pair;
        } catch (IOException | RuntimeException failed) {
            opened.forEach(each -> closeAfter(failed, each));
            throw failed;
        }
    }

    private static void closeAfter(Exception failed, AutoCloseable opened) {
        try {
            opened.close();
        } catch (Exception another) {
            failed.addSuppressed(another);
        }
    }

    /** The name of the pair. */
    String name() {
        return names.name();
    }

    Target primary() {
        return primary;
    }

    Target replica() {
        return replica;
    }

    RespConnection atPrimary() {
        return atPrimary;
    }

    RespConnection atReplica() {
        return atReplica;
    }

    ServerInfo primaryInfo() throws IOException {
        return ServerInfo.parse(atPrimary.call("INFO"));
    }

    /** Makes the second server a replica of the first one; does not wait for its data. */
    void attach() throws IOException {
        atReplica.call("REPLICAOF", primary.host(), String.valueOf(primary.port()));
    }

    /** Makes the second server a primary of its own, and lets the first one free its backlog after a second. */
    void beginDetaching() throws IOException {
        atReplica.call("REPLICAOF", "NO", "ONE");
        atPrimary.call("CONFIG", "SET", "repl-backlog-ttl", "1");
    }

    /**
     * Whether the first server has neither a replica nor a backlog to fill. Cuts a link that it still has: it may not
     * have seen yet that the replica has closed it.
     */
    boolean isDetached() throws IOException {
        ServerInfo info = replication(atPrimary);
        if (info.number("connected_slaves").orElse(0) > 0) {
            atPrimary.call("CLIENT", "KILL", "TYPE", "replica");
            return false;
        }
        return info.number("repl_backlog_active").orElse(0) == 0;
    }

    /** Whether the replica has the data of a synchronization and gets the writes. */
    boolean isLinkUp() throws IOException {
        return replication(atReplica).text("master_link_status").equals("up");
    }

    /** The primary's offset in the replication stream. */
    long primaryOffset() throws IOException {
        return offset(replication(atPrimary), "master_repl_offset");
    }

    /** The replica's offset in the replication stream. */
    long replicaOffset() throws IOException {
        return offset(replication(atReplica), "slave_repl_offset");
    }

    private static long offset(ServerInfo info, String field) throws IOException {
        return info.number(field).orElseThrow(() -> new IOException("INFO replication has no " + field));
    }

    private static ServerInfo replication(RespConnection connection) throws IOException {
        return ServerInfo.parse(connection.call("INFO", "replication"));
    }

    /** Whether the measurement has to end: it is cancelled, or a process has ended. The latter becomes a fault. */
    boolean hasEnded() {
        note(names.primary() + " as primary", primary.death());
        note(names.replica() + " as replica", replica.death());
        return context.cancellation.isCancelled() || context.isFailed();
    }

    private void note(String who, @Nullable String death) {
        if (death != null && !context.faults.contains(who + ": " + death)) {
            context.faults.add(who + ": " + death);
        }
    }

    /** A condition of the servers. */
    interface Condition {
        boolean holds() throws IOException;
    }

    /** Polls until the condition holds. @return whether it holds; false after a time out or if the pair has ended */
    boolean await(long pollMillis, long timeoutSeconds, Condition condition) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        while (!condition.holds()) {
            if (System.nanoTime() - end > 0 || hasEnded() || context.cancellation.await(pollMillis)) {
                return false;
            }
        }
        return true;
    }

    /** Stops the replica's process, which keeps its memory and its connections. */
    void suspendReplica() throws IOException {
        signal("-STOP");
    }

    /** Lets the replica's process go on. */
    void resumeReplica() throws IOException {
        signal("-CONT");
    }

    private void signal(String name) throws IOException {
        long pid = replica.pid().orElseThrow(() -> new IOException("the replica is not a process of its own"));
        Process kill = new ProcessBuilder(List.of("kill", name, String.valueOf(pid))).redirectErrorStream(true).start();
        kill.getOutputStream().close();
        String printed = new String(kill.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!kill.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new IOException("kill " + name + " " + pid + ": " + printed.strip());
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the replica got a signal", interrupted);
        }
    }

    /** Stops both, and deletes what they have written except their logs. */
    @Override
    public void close() throws IOException {
        try (primary; replica; atPrimary; atReplica) {
            // A suspended process does not see that it is to end.
            if (replica.death() == null) {
                resumeReplica();
            }
        }
        List<Path> written;
        try (Stream<Path> files = Files.walk(directory)) {
            written = files.filter(Files::isRegularFile).filter(file -> !file.endsWith(LOG)).toList();
        }
        for (Path file : written) {
            Files.delete(file);
        }
    }
}
