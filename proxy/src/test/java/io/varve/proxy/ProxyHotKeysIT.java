package io.varve.proxy;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.testing.HangingRelay;
import io.varve.proxy.testing.TestProxy;
import io.varve.server.VarveServer;
import io.varve.server.clustering.ClusterState;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests reads of copies of hot keys through the proxy. Confined to the test's thread, which plays the controllers. */
class ProxyHotKeysIT {
    private static final Duration WITHIN = Duration.ofSeconds(60);
    private static final int MEMBERS = 3;
    private static final int CLIENTS = 2 * MEMBERS;
    /** Its slot is the first member's. */
    private static final String KEY = "{b}hot";

    @TempDir
    Path folder;

    private final List<VarveServer> servers = new ArrayList<>();
    private final List<HangingRelay> relays = new ArrayList<>();
    private final List<BlockingConnection> clients = new ArrayList<>();

    private String startMembers() throws IOException {
        SlotMap.Builder map = SlotMap.EMPTY.toBuilder();
        List<String> addresses = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++) {
            VarveServer server = VarveServer.start(ServerConfig.defaults().with("port", "0")
                    .with("maxmemory", "64mb").with("shards", "4").with("cluster-enabled", "yes")
                    .with("cluster-controllers", "127.0.0.1:1")
                    .with("dir", Files.createDirectories(folder.resolve("v" + i)).toString()));
            servers.add(server);
            String id = state(server).view().me().id();
            HangingRelay relay = new HangingRelay(server.port());
            relays.add(relay);
            map.member(new Member(id, "127.0.0.1", relay.port(), 1, null));
            map.owner(new SlotRange(HashSlot.COUNT * i / MEMBERS, HashSlot.COUNT * (i + 1) / MEMBERS - 1), id);
            addresses.add("127.0.0.1:" + relay.port());
        }
        SlotMap built = map.build(1);
        servers.forEach(server -> state(server).install(built, true));
        return String.join(",", addresses);
    }

    private static ClusterState state(VarveServer server) {
        return Objects.requireNonNull(server.cluster());
    }

    private void connect(TestProxy proxy) throws IOException {
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(proxy.connect());
        }
    }

    /** Every client reads once. */
    private List<String> read() throws IOException {
        List<String> values = new ArrayList<>();
        for (BlockingConnection client : clients) {
            Reply reply = client.call("GET", KEY);
            assertThat(reply.isError()).as(reply.textOrEmpty()).isFalse();
            values.add(reply.textOrEmpty());
        }
        return values;
    }

    private void awaitReadsOfCopies(TestProxy proxy, int more) throws IOException {
        long before = proxy.info("copy_reads");
        await().atMost(WITHIN).until(() -> {
            read();
            return proxy.info("copy_reads") >= before + more;
        });
    }

    @AfterEach
    void close() throws IOException {
        for (BlockingConnection client : clients) {
            client.close();
        }
        for (HangingRelay relay : relays) {
            relay.close();
        }
        servers.forEach(VarveServer::close);
    }

    @Test
    void clientsReadCopies_andSeeTheirOwnWrites() throws IOException {
        try (TestProxy proxy = TestProxy.at(startMembers(), List.of())) {
            connect(proxy);
            BlockingConnection first = clients.getFirst();
            assertThat(first.call("SET", KEY, "0").textOrEmpty()).isEqualTo("OK");
            assertThat(first.call("VARVE.REPLICATE", KEY, "2").integer()).isEqualTo(2);
            awaitReadsOfCopies(proxy, 100);
            for (int i = 1; i <= 300; i++) {
                BlockingConnection writer = clients.get(i % CLIENTS);
                String value = Integer.toString(i);
                if (i % 2 == 0) {
                    writer.send("GET", KEY);
                    writer.send("SET", KEY, value);
                    writer.send("GET", KEY);
                    assertThat(writer.read().textOrEmpty()).isNotEqualTo(value);
                    assertThat(writer.read().textOrEmpty()).isEqualTo("OK");
                    assertThat(writer.read().textOrEmpty()).isEqualTo(value);
                } else {
                    writer.call("MULTI");
                    writer.call("SET", KEY, value);
                    writer.call("EXEC");
                    assertThat(writer.call("GET", KEY).textOrEmpty()).isEqualTo(value);
                }
            }
            await().atMost(WITHIN).until(() -> read().stream().allMatch("300"::equals));
            awaitReadsOfCopies(proxy, 100);
            assertThat(first.call("STRLEN", KEY).integer()).isEqualTo(3);
        }
    }

    @Test
    void aHolderThatFails_isReplacedByTheOwner() throws IOException {
        try (TestProxy proxy = TestProxy.at(startMembers(), List.of())) {
            connect(proxy);
            clients.getFirst().call("SET", KEY, "value");
            clients.getFirst().call("VARVE.REPLICATE", KEY, "2");
            awaitReadsOfCopies(proxy, 10);
            long before = proxy.info("copy_fallbacks");
            servers.removeLast().close();
            for (int i = 0; i < 100; i++) {
                assertThat(read()).containsOnly("value");
            }
            // Not each of the 200 reads of its clients: they keep to the owner for a while.
            assertThat(proxy.info("copy_fallbacks") - before).isBetween(1L, 50L);
            try (BlockingConnection owner = new BlockingConnection(
                    new Endpoint("127.0.0.1", servers.getFirst().port()), 20_000, null)) {
                await().atMost(WITHIN).until(() -> {
                    assertThat(read()).containsOnly("value");
                    return owner.call("VARVE.REPLICATE", KEY).elements().size() == 1;
                });
            }
            awaitReadsOfCopies(proxy, 10);
        }
    }

    @Test
    void afterAReadOfSeveralKeys_theClientReadsFromOwners() throws IOException {
        try (TestProxy proxy = TestProxy.at(startMembers(), List.of())) {
            connect(proxy);
            clients.getFirst().call("SET", KEY, "value");
            clients.getFirst().call("VARVE.REPLICATE", KEY, "2");
            awaitReadsOfCopies(proxy, CLIENTS);
            long before = proxy.info("copy_reads");
            for (BlockingConnection client : clients) {
                client.send("MGET", KEY, "{b}other");
                client.send("GET", KEY);
                assertThat(client.read().elements().getFirst().textOrEmpty()).isEqualTo("value");
                assertThat(client.read().textOrEmpty()).isEqualTo("value");
                client.send("EXISTS", "other", KEY);
                client.send("STRLEN", KEY);
                assertThat(client.read().integer()).isEqualTo(1);
                assertThat(client.read().integer()).isEqualTo(5);
            }
            assertThat(proxy.info("copy_reads")).isEqualTo(before);
            awaitReadsOfCopies(proxy, CLIENTS);
        }
    }

    @Test
    void aWriteThatWaits_whileCopiesBegin_isSeenByItsClient() throws IOException {
        String list = "{b}list";
        try (TestProxy proxy = TestProxy.at(startMembers(), List.of())) {
            connect(proxy);
            for (BlockingConnection client : clients) {
                client.send("BLMOVE", list, list, "LEFT", "LEFT", "0");
            }
            try (BlockingConnection owner = new BlockingConnection(
                    new Endpoint("127.0.0.1", servers.getFirst().port()), 20_000, null)) {
                await().atMost(WITHIN).until(
                        () -> owner.call("INFO", "clients").textOrEmpty().contains("blocked_clients:" + CLIENTS));
                owner.call("SET", KEY, "value");
                owner.call("VARVE.REPLICATE", KEY, "2");
                await().atMost(WITHIN).until(() -> {
                    for (int i = 0; i < MEMBERS; i++) {
                        proxy.call("GET", KEY);
                    }
                    return proxy.info("copy_reads") > 0;
                });
                owner.call("RPUSH", list, "element");
            }
            long before = proxy.info("copy_reads");
            for (BlockingConnection client : clients) {
                assertThat(client.read().textOrEmpty()).isEqualTo("element");
                assertThat(client.call("GET", KEY).textOrEmpty()).isEqualTo("value");
            }
            assertThat(proxy.info("copy_reads")).isEqualTo(before);
        }
    }

    @Test
    void aHolderThatHangs_delaysNoWritesOfOtherKeys() throws IOException {
        try (TestProxy proxy = TestProxy.at(startMembers(), List.of(), "--member-reply-timeout-ms", "600000")) {
            connect(proxy);
            clients.getFirst().call("SET", KEY, "value");
            clients.getFirst().call("VARVE.REPLICATE", KEY, "2");
            awaitReadsOfCopies(proxy, 100);
            relays.get(1).hang(true);
            relays.get(2).hang(true);
            for (int i = 0; i < CLIENTS; i++) {
                clients.get(i).send("GET", KEY);
                clients.get(i).send("PING");
                clients.get(i).send("SET", "{b}other" + i, "written");
            }
            for (int i = 0; i < CLIENTS; i++) {
                String key = "{b}other" + i;
                await().atMost(WITHIN).until(() -> proxy.call("GET", key).textOrEmpty().equals("written"));
            }
            relays.get(1).hang(false);
            relays.get(2).hang(false);
            for (BlockingConnection client : clients) {
                assertThat(client.read().textOrEmpty()).isEqualTo("value");
                assertThat(client.read().textOrEmpty()).isEqualTo("PONG");
                assertThat(client.read().textOrEmpty()).isEqualTo("OK");
            }
        }
    }

    /** Whether the next clients read from the owner, while the holders hang. */
    private static boolean allReadOwner(TestProxy proxy) throws IOException {
        try {
            for (int i = 0; i < MEMBERS; i++) {
                try (BlockingConnection client = new BlockingConnection(new Endpoint("127.0.0.1", proxy.port()), 500,
                        null)) {
                    client.call("GET", KEY);
                }
            }
            return true;
        } catch (SocketTimeoutException _) {
            return false;
        }
    }

    @Test
    void aWriteWaits_forASlowReadOfACopy_evenIfTheCopiesHaveEnded() throws IOException {
        try (TestProxy proxy = TestProxy.at(startMembers(), List.of(), "--member-reply-timeout-ms", "600000")) {
            connect(proxy);
            clients.getFirst().call("SET", KEY, "value");
            clients.getFirst().call("VARVE.REPLICATE", KEY, "2");
            awaitReadsOfCopies(proxy, 100);
            relays.get(1).hang(true);
            relays.get(2).hang(true);
            for (BlockingConnection client : clients) {
                client.send("GET", KEY);
            }
            assertThat(proxy.call("VARVE.REPLICATE", KEY, "0").integer()).isZero();
            await().atMost(WITHIN).until(() -> allReadOwner(proxy));
            for (BlockingConnection client : clients) {
                client.send("APPEND", KEY, "+");
            }
            // The owner's clients write at once.
            await().atMost(WITHIN).until(() -> proxy.call("STRLEN", KEY).integer() > "value".length());
            long written = proxy.call("STRLEN", KEY).integer();
            assertThat(written).isLessThan("value".length() + CLIENTS);
            relays.get(1).hang(false);
            relays.get(2).hang(false);
            for (BlockingConnection client : clients) {
                String read = client.read().textOrEmpty();
                assertThat(client.read().integer()).isGreaterThan(read.length());
            }
        }
    }

    @Test
    void withoutCopies_allReadsGoToTheOwner() throws IOException {
        try (TestProxy proxy = TestProxy.at(startMembers(), List.of(), "--hot-key-copies", "no")) {
            connect(proxy);
            clients.getFirst().call("SET", KEY, "value");
            clients.getFirst().call("VARVE.REPLICATE", KEY, "2");
            try (BlockingConnection owner = new BlockingConnection(
                    new Endpoint("127.0.0.1", servers.getFirst().port()), 20_000, null)) {
                await().atMost(WITHIN).until(() -> owner.call("VARVE.REPLICATE", KEY).elements().size() == 2);
            }
            assertThat(read()).containsOnly("value");
            assertThat(proxy.info("copy_reads")).isZero();
        }
    }
}
