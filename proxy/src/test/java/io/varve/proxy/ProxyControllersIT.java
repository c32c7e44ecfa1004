package io.varve.proxy;

import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.HashSlot;
import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.testing.RedisMember;
import io.varve.proxy.testing.TestController;
import io.varve.proxy.testing.TestProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** A proxy that follows a controller, over real plain servers. Confined to the test's thread. */
@Timeout(120)
class ProxyControllersIT {
    /** An hour: the map changes by requests only. */
    private static final String NEVER = "3600000";
    private static final int KEYS = 60;
    private static final int HALF = HashSlot.COUNT / 2;

    @TempDir
    private Path folder;

    private static List<RedisMember> servers(int count, String... options) throws IOException {
        List<RedisMember> started = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            started.add(RedisMember.start(options));
        }
        return started;
    }

    private static void awaitSlots(TestProxy proxy, int slots) {
        await().atMost(30, TimeUnit.SECONDS)
                .until(() -> proxy.call("INFO", "members").textOrEmpty().contains("assigned_slots:" + slots));
    }

    @Test
    void plainMembers_getTheSlotsOfTheMap_andTheProxyFollowsIt() throws Exception {
        List<RedisMember> servers = servers(3);
        try (TestController controller = new TestController(folder);
                TestProxy proxy = TestProxy.following(controller, servers, "--map-refresh-ms", "200");
                BlockingConnection client = proxy.connect()) {
            assertThat(client.call("GET", "key").text()).startsWith("CLUSTERDOWN");
            controller.start();
            for (RedisMember server : servers) {
                controller.register(server);
            }
            controller.assign(servers.get(0), 0, 99);
            controller.assign(servers.get(1), 100, HALF - 1);
            awaitSlots(proxy, HALF);
            String unserved = keyOf(HALF, HashSlot.COUNT - 1);
            assertThat(client.call("SET", unserved, "v").text())
                    .isEqualTo("CLUSTERDOWN Hash slot not served: " + HashSlot.of(unserved));
            controller.assign(servers.get(2), HALF, HashSlot.COUNT - 1);
            awaitSlots(proxy, HashSlot.COUNT);
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.call("SET", "key" + i, "v" + i).text()).isEqualTo("OK");
                int slot = HashSlot.of("key" + i);
                RedisMember owner = servers.get(slot < 100 ? 0 : slot < HALF ? 1 : 2);
                assertThat(owner.call("GET", "key" + i).text()).isEqualTo("v" + i);
                assertThat(client.call("GET", "key" + i).text()).isEqualTo("v" + i);
            }
            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS);
            assertThat(client.call("MGET", "key1", "key2", "none", "key3").elements()).extracting(Reply::text)
                    .containsExactly("v1", "v2", null, "v3");
            controller.stop();
            assertThat(client.call("GET", "key1").text()).isEqualTo("v1");
        }
    }

    private static String keyOf(int firstSlot, int lastSlot) {
        for (int i = 0;; i++) {
            int slot = HashSlot.of("other" + i);
            if (slot >= firstSlot && slot <= lastSlot) {
                return "other" + i;
            }
        }
    }

    @Test
    void aDeadMember_makesTheProxyAskAtOnce() throws Exception {
        List<RedisMember> servers = servers(2);
        try (TestController controller = new TestController(folder)) {
            controller.start();
            controller.register(servers.get(0));
            controller.register(servers.get(1));
            controller.assign(servers.get(0), 0, HashSlot.COUNT - 1);
            try (TestProxy proxy = TestProxy.following(controller, servers, "--map-refresh-ms", NEVER);
                    BlockingConnection client = proxy.connect()) {
                awaitSlots(proxy, HashSlot.COUNT);
                assertThat(client.call("SET", "key", "first").text()).isEqualTo("OK");
                controller.remove(servers.get(0));
                controller.assign(servers.get(1), 0, HashSlot.COUNT - 1);
                assertThat(client.call("GET", "key").text()).as("nothing says that the map is old").isEqualTo("first");
                servers.get(0).kill();
                await().atMost(30, TimeUnit.SECONDS).until(() -> !client.call("SET", "key", "second").isError());
                assertThat(servers.get(1).call("GET", "key").text()).isEqualTo("second");
            }
        }
    }

    @Test
    void aRedirection_isFollowed_andMakesTheProxyAskAtOnce() throws Exception {
        List<RedisMember> cluster = RedisMember.startCluster(3);
        try (TestController controller = new TestController(folder)) {
            controller.start();
            for (RedisMember member : cluster) {
                controller.register(member);
            }
            controller.assign(cluster.get(0), 0, HashSlot.COUNT - 1);
            try (TestProxy proxy = TestProxy.following(controller, cluster, "--map-refresh-ms", NEVER);
                    BlockingConnection client = proxy.connect()) {
                awaitSlots(proxy, HashSlot.COUNT);
                for (int i = 0; i < KEYS; i++) {
                    assertThat(client.call("SET", "key" + i, "v" + i).text()).isEqualTo("OK");
                }
                assertThat(proxy.info("redirected_moved")).isPositive();
                controller.remove(cluster.get(0));
                controller.assign(cluster.get(2), 0, HashSlot.COUNT - 1);
                await().atMost(30, TimeUnit.SECONDS).until(() -> {
                    for (int i = 0; i < KEYS; i++) {
                        assertThat(client.call("GET", "key" + i).text()).isEqualTo("v" + i);
                    }
                    return proxy.info("members") == 2;
                });
            }
        }
    }

    @Test
    void messages_reachSubscribers_whoAreDisconnectedIfTheirMemberChanges() throws Exception {
        List<RedisMember> servers = servers(3);
        try (TestController controller = new TestController(folder)) {
            controller.start();
            for (RedisMember server : servers) {
                controller.register(server);
            }
            controller.assign(servers.get(0), 0, HALF - 1);
            controller.assign(servers.get(1), HALF, HashSlot.COUNT - 1);
            String low = keyOf(0, HALF - 1);
            String high = keyOf(HALF, HashSlot.COUNT - 1);
            try (TestProxy proxy = TestProxy.following(controller, servers, "--map-refresh-ms", "200");
                    BlockingConnection patterns = proxy.connect();
                    BlockingConnection lows = proxy.connect();
                    BlockingConnection highs = proxy.connect()) {
                awaitSlots(proxy, HashSlot.COUNT);
                patterns.call("PSUBSCRIBE", "o*");
                lows.call("SUBSCRIBE", low);
                highs.call("SUBSCRIBE", high);
                proxy.call("PUBLISH", low, "1");
                assertThat(patterns.read().elements().get(3).text()).isEqualTo("1");
                proxy.call("PUBLISH", high, "2");
                assertThat(patterns.read().elements().get(3).text()).isEqualTo("2");
                assertThat(highs.read().elements().get(2).text()).isEqualTo("2");
                controller.remove(servers.get(1));
                controller.assign(servers.get(2), HALF, HashSlot.COUNT - 1);
                for (BlockingConnection left : List.of(patterns, highs)) {
                    assertThatThrownBy(left::read).isInstanceOfAny(SocketException.class, java.io.EOFException.class);
                }
                proxy.call("PUBLISH", low, "3");
                assertThat(lows.read().elements().get(2).text()).isEqualTo("1");
                assertThat(lows.read().elements().get(2).text()).isEqualTo("3");
            }
        }
    }

    @Test
    void ratis_isLoadedOnlyForControllers() throws Exception {
        try (RedisMember server = RedisMember.start()) {
            assertThat(loadsRatis("--members", server.address())).isFalse();
            assertThat(loadsRatis("--controllers", server.address())).isTrue();
        }
    }

    /** Whether a proxy in a process of its own has loaded a class of Ratis before it was ready. */
    private boolean loadsRatis(String... options) throws IOException, InterruptedException {
        Path classes = folder.resolve("classes");
        Path output = folder.resolve("output");
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString(), "-Xmx128m", "-Xlog:class+load:file=" + classes, "-cp",
                System.getProperty("java.class.path"), "io.varve.proxy.Main", "--port", "0"));
        command.addAll(List.of(options));
        Process proxy = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            await().atMost(60, TimeUnit.SECONDS).until(() -> !proxy.isAlive()
                    || Files.readString(output).contains("Ready to accept connections"));
            assertThat(proxy.isAlive()).as(Files.readString(output)).isTrue();
        } finally {
            proxy.destroyForcibly().waitFor();
        }
        String loaded = Files.readString(classes);
        assertThat(loaded).contains("io.varve.proxy.ProxyServer");
        return loaded.contains("org.apache.ratis.");
    }
}
