package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.server.VarveServer;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.MigrationCounters;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.jspecify.annotations.Nullable;

/**
 * A cluster of Varve servers whose controllers this class plays: it has the map, and decides about the end of each
 * migration. Guarded by its own monitor; migrations of the servers call it on their threads.
 *
 * <p>The primaries have equal parts of the slots.
 */
final class ControlledCluster implements AutoCloseable {
    static final String HOST = "127.0.0.1";
    private static final int SLOTS = 16_384;

    /** Decides about the end of a migration that the map allows. */
    @FunctionalInterface
    interface Gate {
        boolean admits() throws InterruptedException;
    }

    private final List<@Nullable VarveServer> servers = new ArrayList<>();
    private final List<ServerConfig> configs = new ArrayList<>();
    private final List<String> ids = new ArrayList<>();
    private final List<Long> generations = new ArrayList<>();
    private SlotMap map = SlotMap.EMPTY;
    private long lastGeneration;
    private long lastAbort;
    private volatile Gate gate = () -> true;
    private final List<Long> answerNanos = new ArrayList<>();

    /** @param replicas of the second primary, behind the primaries */
    static ControlledCluster start(Path folder, int primaries, int replicas, String... settings) throws IOException {
        ControlledCluster cluster = new ControlledCluster();
        try {
            for (int i = 0; i < primaries + replicas; i++) {
                ServerConfig config = ServerExtension.config(settings).with("cluster-enabled", "yes")
                        .with("cluster-controllers", "127.0.0.1:1").with("maxmemory", "256mb")
                        .with("shutdown-timeout", "0")
                        .with("dir", Files.createDirectories(folder.resolve("v" + i)).toString());
                cluster.add(i < primaries
                        ? config
                        : config.with("replicaof", HOST + " " + cluster.port(1)));
            }
            cluster.assign(primaries);
            return cluster;
        } catch (IOException | RuntimeException failed) {
            cluster.close();
            throw failed;
        }
    }

    private void add(ServerConfig config) throws IOException {
        VarveServer server = VarveServer.start(config.validate());
        servers.add(server);
        configs.add(config.with("port", Integer.toString(server.port())));
        generations.add(++lastGeneration);
        int number = servers.size() - 1;
        ids.add(state(number).view().me().id());
        connect(number);
    }

    private void connect(int number) {
        state(number).generation(() -> generation(number));
        long generation = generation(number);
        state(number).handover((slots, target, targetGeneration, epoch) -> finish(number, generation, slots, target,
                targetGeneration, epoch));
    }

    private void assign(int primaries) {
        change(next -> {
            for (int i = 0; i < ids.size(); i++) {
                next.member(new Member(id(i), HOST, port(i), 1, i < primaries ? null : id(1)));
            }
            for (int i = 0; i < primaries; i++) {
                next.owner(new SlotRange(SLOTS * i / primaries, SLOTS * (i + 1) / primaries - 1), id(i));
            }
        });
    }

    /** Decides about ends of migrations from now on. */
    void gate(Gate value) {
        gate = value;
    }

    /** @return as {@link io.varve.server.clustering.Handover#finish} */
    private boolean finish(int source, long generation, List<SlotRange> slots, String target, long targetGeneration,
            long epoch) throws InterruptedException {
        if (!gate.admits()) {
            return false;
        }
        synchronized (this) {
            boolean allowed = generation(source) == generation
                    && generation(ids.indexOf(target)) == targetGeneration && epoch >= lastAbort;
            for (SlotRange range : slots) {
                for (int slot = range.first(); slot <= range.last(); slot++) {
                    Member owner = map.owner(slot);
                    Member receiver = map.target(slot);
                    allowed &= owner != null && receiver != null && owner.id().equals(id(source))
                            && receiver.id().equals(target);
                }
            }
            if (allowed) {
                long begun = System.nanoTime();
                change(next -> slots.forEach(range -> next.owner(range, target)));
                answerNanos.add(System.nanoTime() - begun);
            }
            return allowed;
        }
    }

    private synchronized void change(Consumer<SlotMap.Builder> edit) {
        SlotMap.Builder next = map.toBuilder();
        edit.accept(next);
        map = next.build(map.epoch() + 1);
        for (int i = 0; i < servers.size(); i++) {
            if (servers.get(i) != null) {
                state(i).install(map, true);
            }
        }
    }

    void beginMigration(SlotRange slots, int target) {
        change(next -> slots(slots).forEach(slot -> next.target(slot, id(target))));
    }

    synchronized void abortMigration(SlotRange slots) {
        change(next -> slots(slots).forEach(slot -> next.target(slot, null)));
        lastAbort = map.epoch();
    }

    /** Gives slots to a member, as if its keys had moved; -1: to no one. */
    void assign(SlotRange slots, int owner) {
        change(next -> slots(slots).forEach(slot -> next.owner(slot, owner < 0 ? null : id(owner))));
    }

    private static List<Integer> slots(SlotRange range) {
        List<Integer> slots = new ArrayList<>();
        for (int slot = range.first(); slot <= range.last(); slot++) {
            slots.add(slot);
        }
        return slots;
    }

    /** Ends or grants the lease of a member. */
    void lease(int member, boolean leased) {
        state(member).lease(leased);
    }

    synchronized SlotMap map() {
        return map;
    }

    /** The number of the member that owns a slot. */
    int owner(int slot) {
        return ids.indexOf(Objects.requireNonNull(map().owner(slot)).id());
    }

    boolean hasMigrations() {
        return !map().migrations().isEmpty();
    }

    private synchronized long generation(int member) {
        return generations.get(member);
    }

    // --- servers

    /** Closes a server, which keeps its place in the map. */
    void stop(int member) {
        VarveServer stopped;
        synchronized (this) {
            stopped = Objects.requireNonNull(servers.set(member, null));
        }
        stopped.close();
    }

    /** Starts a server again, at its old address: it has registered by the end. */
    void restart(int member) throws IOException {
        VarveServer server = VarveServer.start(configs.get(member).validate());
        synchronized (this) {
            generations.set(member, ++lastGeneration);
            servers.set(member, server);
            connect(member);
            state(member).install(map, true);
        }
    }

    synchronized ClusterState state(int member) {
        return Objects.requireNonNull(Objects.requireNonNull(servers.get(member)).cluster());
    }

    String id(int member) {
        return ids.get(member);
    }

    int port(int member) {
        return configs.get(member).intNumber("port");
    }

    /** Sends one command to a member, on a connection of its own. */
    RawReply call(int member, String... command) throws IOException {
        try (RawClient client = new RawClient(port(member))) {
            return client.call(command);
        }
    }

    /** The lengths of the holds of a member, and how much of that it took to install the new maps. */
    synchronized String holds(int member) {
        long[] answers = answerNanos.stream().mapToLong(Long::longValue).sorted().toArray();
        MigrationCounters counters = state(member).migrations();
        return counters.holds() + " holds, median " + counters.medianHoldMicros() + " us, longest "
                + counters.longestHoldMicros() + " us, with maps of all members, median "
                + (answers.length == 0 ? 0 : answers[answers.length / 2] / 1000) + " us, longest "
                + (answers.length == 0 ? 0 : answers[answers.length - 1] / 1000) + " us; " + counters.failures()
                + " failures";
    }

    long keys(int member) throws IOException {
        return call(member, "DBSIZE").integer();
    }

    @Override
    public void close() {
        for (int i = 0; i < servers.size(); i++) {
            if (servers.get(i) != null) {
                stop(i);
            }
        }
    }
}
