package io.varve.experiments.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.jspecify.annotations.Nullable;

/**
 * Several primaries among which clients divide the keys, each with a replica: the penalty paper's cluster (figure 10).
 * Confined to the thread that opened it, except {@link #death}, which any thread may call.
 *
 * <p>The servers run without cluster mode. {@link #host}, {@link #port} and {@link #pid} are those of the first
 * primary, which stands for all where one is sampled.
 */
final class DividedTarget implements Target {
    private static final long LINK_SECONDS = 60;
    private static final long POLL_MILLIS = 20;

    private final List<Target> primaries;
    private final List<Target> all;

    private DividedTarget(List<Target> primaries, List<Target> all) {
        this.primaries = List.copyOf(primaries);
        this.all = List.copyOf(all);
    }

    /** Starts one server. */
    interface Opener {
        /** @param directory receives its output */
        Target open(Path directory) throws IOException;
    }

    /** Starts the servers, and waits until each replica follows its primary. */
    static DividedTarget start(int count, Path directory, Opener opener) throws IOException {
        List<Target> primaries = new ArrayList<>();
        List<Target> all = new ArrayList<>();
        try {
            for (int i = 1; i <= count; i++) {
                Target primary = opener.open(Files.createDirectories(directory.resolve("primary-" + i)));
                primaries.add(primary);
                all.add(primary);
                Target replica = opener.open(Files.createDirectories(directory.resolve("replica-" + i)));
                all.add(replica);
                follow(replica, primary);
            }
            return new DividedTarget(primaries, all);
        } catch (IOException failed) {
            close(all, failed);
            throw failed;
        }
    }

    private static void follow(Target replica, Target primary) throws IOException {
        try (RespConnection connection = new RespConnection(replica.host(), replica.port())) {
            connection.call("REPLICAOF", primary.host(), String.valueOf(primary.port()));
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LINK_SECONDS);
            while (!ServerInfo.parse(connection.call("INFO", "replication")).text("master_link_status").equals("up")) {
                if (System.nanoTime() - end > 0) {
                    throw new IOException("the replica at port " + replica.port() + " does not follow its primary");
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS));
            }
        }
    }

    @Override
    public String host() {
        return primaries.getFirst().host();
    }

    @Override
    public int port() {
        return primaries.getFirst().port();
    }

    @Override
    public OptionalLong pid() {
        return primaries.getFirst().pid();
    }

    @Override
    public List<Target> members() {
        return primaries;
    }

    @Override
    public String startedBy() {
        return all.stream().map(Target::startedBy).collect(Collectors.joining(" ; "));
    }

    @Override
    public @Nullable String death() {
        return all.stream().flatMap(each -> Stream.ofNullable(each.death())).findFirst().orElse(null);
    }

    @Override
    public void close() throws IOException {
        IOException failed = close(all, null);
        if (failed != null) {
            throw failed;
        }
    }

    /** Stops each server, even if others do not stop. @return the first failure */
    private static @Nullable IOException close(List<Target> targets, @Nullable IOException earlier) {
        IOException first = earlier;
        for (Target each : targets.reversed()) {
            try {
                each.close();
            } catch (IOException failure) {
                if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
            }
        }
        return first;
    }
}
