package io.varve.proxy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
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
import static org.awaitility.Awaitility.await;

/** Deaths, departures and changes of the map in the middle of something. Confined to the test's thread. */
@Timeout(120)
class ProxyAdversityIT {
    private static final int REQUESTS = 4_000;

    @Test
    void aMemberThatDiesInAPipeline_leavesOneReplyForEachRequest_inOrder() throws Exception {
        try (TestProxy proxy = TestProxy.overServers(2, "--max-pipeline", "100000");
                BlockingConnection client = proxy.connect()) {
            RedisMember dying = proxy.members().getFirst();
            String lost = keyOf(0, HashSlot.COUNT / 2 - 1);
            String kept = keyOf(HashSlot.COUNT / 2, HashSlot.COUNT - 1);
            assertThat(client.call("SET", lost, "0").text()).isEqualTo("OK");
            assertThat(client.call("SET", kept, "0").text()).isEqualTo("OK");
            Thread killer = Thread.ofPlatform().unstarted(() -> {
                try {
                    dying.kill();
                } catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                }
            });
            for (int i = 0; i < REQUESTS; i++) {
                client.send("INCR", lost);
                client.send("INCR", kept);
                if (i == REQUESTS / 2) {
                    killer.start();
                }
            }
            long lastLost = 0;
            int failed = 0;
            for (int i = 1; i <= REQUESTS; i++) {
                Reply reply = client.read();
                if (reply.isError()) {
                    failed++;
                } else {
                    assertThat(reply.integer()).isEqualTo(++lastLost);
                }
                assertThat(client.read().integer()).isEqualTo(i);
            }
            killer.join();
            assertThat(lastLost + failed).isEqualTo(REQUESTS);
            assertThat(client.call("PING").text()).isEqualTo("PONG");
        }
    }

    private static String keyOf(int firstSlot, int lastSlot) {
        for (int i = 0;; i++) {
            int slot = HashSlot.of("key" + i);
            if (slot >= firstSlot && slot <= lastSlot) {
                return "key" + i;
            }
        }
    }

    @Test
    void aReaderThatLeaves_takesNoAnswerFromThoseWhoShareItsRead() throws Exception {
        // One event loop, so that all clients can share reads.
        try (TestProxy proxy = TestProxy.overServers(1, "--io-threads", "1", "--member-reply-timeout-ms", "60000");
                BlockingConnection follower = proxy.connect()) {
            proxy.call("SET", "shared", "value");
            follower.call("PING");
            proxy.members().getFirst().freeze();
            Socket leader = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
            // It ends with a reset, not in an orderly way.
            leader.setSoLinger(true, 0);
            leader.getOutputStream().write("GET shared\r\n".getBytes(StandardCharsets.US_ASCII));
            await().atMost(20, TimeUnit.SECONDS).until(() -> proxy.call("CLIENT", "LIST").textOrEmpty()
                    .contains("cmd=get"));
            follower.send("GET", "shared");
            await().atMost(20, TimeUnit.SECONDS).until(() -> proxy.info("merged_reads") == 1);
            leader.close();
            await().atMost(20, TimeUnit.SECONDS).until(() -> proxy.info("connected_clients") == 2);
            List<BlockingConnection> others = new ArrayList<>();
            // Their requests reuse what the leader's input has occupied.
            for (int i = 0; i < 20; i++) {
                BlockingConnection other = proxy.connect();
                others.add(other);
                other.send("GET", "other" + i);
            }
            follower.send("GET", "shared");
            await().atMost(20, TimeUnit.SECONDS).until(() -> proxy.info("merged_reads") == 2);
            proxy.members().getFirst().thaw();
            assertThat(follower.read().text()).isEqualTo("value");
            assertThat(follower.read().text()).isEqualTo("value");
            for (BlockingConnection other : others) {
                assertThat(other.read().text()).isNull();
                other.close();
            }
        }
    }

    @Test
    void aRequestThatWaitsForEarlierOnes_staysIntact_whileInputArrives() throws Exception {
        try (TestProxy proxy = TestProxy.overServers(1, "--member-reply-timeout-ms", "60000");
                BlockingConnection client = proxy.connect()) {
            proxy.call("SET", "watched", "1");
            assertThat(client.call("GET", "watched").text()).isEqualTo("1");
            proxy.members().getFirst().freeze();
            // WATCH waits for the reply of GET; each further piece is received meanwhile.
            String requests = "GET watched\r\nWATCH watched\r\nMULTI\r\nINCR watched\r\nEXEC\r\nGET watched\r\n";
            for (byte next : requests.getBytes(StandardCharsets.US_ASCII)) {
                client.sendBytes(new byte[] {next});
            }
            client.sendBytes("*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$100000\r\n".getBytes(StandardCharsets.US_ASCII));
            client.sendBytes(("v".repeat(100_000) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            await().atMost(20, TimeUnit.SECONDS).until(() -> proxy.call("CLIENT", "LIST").textOrEmpty()
                    .contains("cmd=watch"));
            proxy.members().getFirst().thaw();
            assertThat(client.read().text()).isEqualTo("1");
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().text()).isEqualTo("QUEUED");
            assertThat(client.read().elements()).extracting(Reply::integer).containsExactly(2L);
            assertThat(client.read().text()).isEqualTo("2");
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(proxy.call("STRLEN", "large").integer()).isEqualTo(100_000);
        }
    }

    @Test
    void aTransactionAcrossAChangeOfTheMap_runsAtTheNewOwner(@TempDir java.nio.file.Path folder) throws Exception {
        List<RedisMember> servers = List.of(RedisMember.start(), RedisMember.start());
        try (TestController controller = new TestController(folder)) {
            controller.start();
            controller.register(servers.get(0));
            controller.register(servers.get(1));
            controller.assign(servers.get(0), 0, HashSlot.COUNT - 1);
            try (TestProxy proxy = TestProxy.following(controller, servers, "--map-refresh-ms", "100");
                    BlockingConnection client = proxy.connect();
                    BlockingConnection watching = proxy.connect()) {
                await().atMost(30, TimeUnit.SECONDS).until(() -> proxy.info("assigned_slots") == HashSlot.COUNT);
                assertThat(watching.call("WATCH", "{k}0").text()).isEqualTo("OK");
                assertThat(watching.call("MULTI").text()).isEqualTo("OK");
                assertThat(watching.call("INCR", "{k}0").text()).isEqualTo("QUEUED");
                assertThat(client.call("MULTI").text()).isEqualTo("OK");
                assertThat(client.call("INCR", "{k}1").text()).isEqualTo("QUEUED");
                assertThat(client.call("INCR", "{k}2").text()).isEqualTo("QUEUED");
                controller.remove(servers.get(0));
                controller.assign(servers.get(1), 0, HashSlot.COUNT - 1);
                await().atMost(30, TimeUnit.SECONDS).until(() -> proxy.info("members") == 1);
                assertThat(client.call("EXEC").elements()).extracting(Reply::integer).containsExactly(1L, 1L);
                assertThat(servers.get(0).call("EXISTS", "{k}1").integer()).isZero();
                assertThat(servers.get(1).call("MGET", "{k}1", "{k}2").elements()).extracting(Reply::text)
                        .containsExactly("1", "1");
                Reply watched = watching.call("EXEC");
                assertThat(watched.text()).as("the reply to EXEC after WATCH at the former owner").isNull();
                assertThat(servers.get(0).call("EXISTS", "{k}0").integer()).isZero();
                assertThat(watching.call("WATCH", "{k}0").text()).isEqualTo("OK");
                assertThat(watching.call("SET", "{k}0", "1").text()).isEqualTo("OK");
                assertThat(servers.get(1).call("GET", "{k}0").text()).isEqualTo("1");
            }
        }
    }

    @Test
    void hugeValues_passBothWays_beforeAndAfterShortOnes() throws IOException {
        String huge = "0123456789abcdef".repeat(1 << 20);
        try (TestProxy proxy = TestProxy.overServers(2); BlockingConnection client = proxy.connect()) {
            for (int i = 0; i < 6; i++) {
                client.send("SET", "huge" + i, huge + i);
                client.send("SET", "short" + i, "s" + i);
            }
            for (int i = 0; i < 12; i++) {
                assertThat(client.read().text()).isEqualTo("OK");
            }
            for (int i = 0; i < 6; i++) {
                client.send("GET", "short" + i);
                client.send("GET", "huge" + i);
            }
            client.send("MGET", "huge0", "short0", "huge5", "none");
            for (int i = 0; i < 6; i++) {
                assertThat(client.read().text()).isEqualTo("s" + i);
                assertThat(client.read().text()).isEqualTo(huge + i);
            }
            assertThat(client.read().elements()).extracting(Reply::text).containsExactly(huge + 0, "s0", huge + 5,
                    null);
        }
    }
}
