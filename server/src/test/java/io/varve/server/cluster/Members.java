package io.varve.server.cluster;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.server.VarveServer;
import io.varve.server.clustering.ClusterState;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;

import static org.awaitility.Awaitility.await;

/**
 * A cluster of Varve servers with a map that the test installs, or of real Redis servers. Confined to the test's
 * thread, except for the map.
 *
 * <p>All primaries have an equal part of the slots, in their order.
 */
final class Members implements AutoCloseable {
    static final String HOST = "127.0.0.1";
    private static final int SLOTS = 16_384;
    private static final Duration JOINED_WITHIN = Duration.ofSeconds(60);

    private final List<AutoCloseable> servers = new ArrayList<>();
    private final List<VarveServer> varve = new ArrayList<>();
    private final List<Integer> ports = new ArrayList<>();
    private final List<String> ids = new ArrayList<>();

    /** @param replicas of the first primary, behind the primaries */
    static Members ofVarve(Path folder, int primaries, int replicas, String... settings) throws IOException {
        Members members = new Members();
        try {
            for (int i = 0; i < primaries + replicas; i++) {
                ServerConfig config = ServerExtension.config(settings).with("cluster-enabled", "yes")
                        .with("maxmemory", "64mb").with("dir", Files.createDirectories(folder.resolve("v" + i))
                                .toString());
                VarveServer server = VarveServer.start(config.validate());
                members.add(server, server.port());
                members.varve.add(server);
            }
            members.install(members.map(primaries), true);
            return members;
        } catch (IOException | RuntimeException failed) {
            members.close();
            throw failed;
        }
    }

    static Members ofRedis(Path folder, int primaries, int replicas) throws IOException, InterruptedException {
        Members members = new Members();
        try {
            List<Integer> busPorts = new ArrayList<>();
            for (int i = 0; i < primaries + replicas; i++) {
                busPorts.add(freePort());
                ReferenceRedis server = ReferenceRedis.startWith("--cluster-enabled", "yes", "--cluster-port",
                        busPorts.getLast().toString(), "--cluster-node-timeout", "5000",
                        "--cluster-allow-replica-migration", "no",
                        "--dir", Files.createDirectories(folder.resolve("r" + i)).toString());
                members.add(server, server.port());
            }
            members.meet(primaries, busPorts);
            return members;
        } catch (IOException | RuntimeException failed) {
            members.close();
            throw failed;
        }
    }

    private void add(AutoCloseable server, int port) throws IOException {
        servers.add(server);
        ports.add(port);
        ids.add(call(ports.size() - 1, "CLUSTER", "MYID").text());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private SlotRange slots(int primary, int primaries) {
        return new SlotRange(SLOTS * primary / primaries, SLOTS * (primary + 1) / primaries - 1);
    }

    private SlotMap map(int primaries) {
        SlotMap.Builder map = new SlotMap.Builder();
        for (int i = 0; i < ports.size(); i++) {
            map.member(new Member(id(i), HOST, port(i), 1, i < primaries ? null : id(0)));
        }
        for (int i = 0; i < primaries; i++) {
            map.owner(slots(i, primaries), id(i));
        }
        return map.build(1);
    }

    private void meet(int primaries, List<Integer> busPorts) throws IOException {
        for (int i = 0; i < primaries; i++) {
            SlotRange slots = slots(i, primaries);
            call(i, "CLUSTER", "ADDSLOTSRANGE", Integer.toString(slots.first()), Integer.toString(slots.last()));
            call(i, "CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
        }
        for (int i = 1; i < ports.size(); i++) {
            call(0, "CLUSTER", "MEET", HOST, Integer.toString(port(i)), busPorts.get(i).toString());
        }
        await().atMost(JOINED_WITHIN).until(() -> isJoined(ports.size()));
        for (int i = primaries; i < ports.size(); i++) {
            call(i, "CLUSTER", "REPLICATE", id(0));
        }
        int replicas = ports.size() - primaries;
        await().atMost(JOINED_WITHIN).until(
                () -> isJoined(ports.size()) && areReplicasKnown(replicas));
    }

    /** Each member learns it by itself. */
    private boolean areReplicasKnown(int replicas) throws IOException {
        for (int i = 0; i < ports.size(); i++) {
            if (call(i, "CLUSTER", "REPLICAS", id(0)).elements().size() != replicas) {
                return false;
            }
        }
        return true;
    }

    private boolean isJoined(int known) throws IOException {
        for (int i = 0; i < ports.size(); i++) {
            String info = call(i, "CLUSTER", "INFO").text();
            if (!info.contains("cluster_state:ok") || !info.contains("cluster_known_nodes:" + known + "\r\n")
                    || call(i, "CLUSTER", "NODES").text().contains("handshake")) {
                return false;
            }
        }
        return true;
    }

    RawReply call(int member, String... command) throws IOException {
        try (RawClient client = new RawClient(port(member))) {
            return client.call(command);
        }
    }

    int port(int member) {
        return ports.get(member);
    }

    String id(int member) {
        return ids.get(member);
    }

    int count() {
        return ports.size();
    }

    /** Only of Varve. */
    ClusterState state(int member) {
        return Objects.requireNonNull(varve.get(member).cluster());
    }

    SlotMap installed() {
        return state(0).view().map();
    }

    /** Installs a map on all members, the last first. Only of Varve. */
    void install(SlotMap map, boolean leased) {
        for (int i = varve.size() - 1; i >= 0; i--) {
            state(i).install(map, leased);
        }
    }

    /** A text with the IDs and ports of members replaced by their numbers. */
    String normalized(String text) {
        String normal = text;
        for (int i = 0; i < ports.size(); i++) {
            normal = normal.replace(id(i), "ID" + i).replace(HOST + ":" + port(i), "MEMBER" + i);
        }
        return normal;
    }

    /** Resolves {@code ID0} and {@code PORT0}. */
    String[] resolve(String command) {
        String[] words = command.split(" ");
        for (int i = 0; i < words.length; i++) {
            if (words[i].matches("ID\\d")) {
                words[i] = id(words[i].charAt(2) - '0');
            } else if (words[i].matches("PORT\\d")) {
                words[i] = Integer.toString(port(words[i].charAt(4) - '0'));
            }
        }
        return words;
    }

    @Override
    public void close() {
        for (AutoCloseable server : servers) {
            try {
                server.close();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }
    }
}
