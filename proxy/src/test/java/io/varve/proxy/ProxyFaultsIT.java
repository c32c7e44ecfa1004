package io.varve.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.testing.RedisMember;
import io.varve.proxy.testing.TestProxy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Members that die or stop, and clients that do not read. Confined to the test's thread and its clients. */
class ProxyFaultsIT {
    private static final int KEYS = 60;

    /** The keys that a member has. */
    private static List<String> fill(TestProxy proxy, RedisMember member) throws IOException {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            proxy.call("SET", "key" + i, "value" + i);
            if (member.call("EXISTS", "key" + i).integer() == 1) {
                keys.add("key" + i);
            }
        }
        assertThat(keys).isNotEmpty().hasSizeLessThan(KEYS);
        return keys;
    }

    private static String health(TestProxy proxy, RedisMember member) throws IOException {
        return proxy.call("INFO", "members").textOrEmpty().lines().filter(line -> line.contains(member.address()))
                .findFirst().orElseThrow();
    }

    @Test
    void aKilledMember_failsItsKeysOnly_andReturns() throws Exception {
        try (TestProxy proxy = TestProxy.overServers(3); BlockingConnection client = proxy.connect()) {
            RedisMember member = proxy.members().getFirst();
            List<String> lost = fill(proxy, member);
            member.kill();
            await().atMost(60, TimeUnit.SECONDS).until(() -> {
                client.call("GET", lost.getFirst());
                return health(proxy, member).contains("state=ejected");
            });
            for (int i = 0; i < KEYS; i++) {
                Reply reply = client.call("GET", "key" + i);
                if (lost.contains("key" + i)) {
                    assertThat(reply.text()).startsWith("CLUSTERDOWN The member " + member.address());
                } else {
                    assertThat(reply.text()).isEqualTo("value" + i);
                }
            }
            assertThat(client.call("MGET", lost.getFirst(), "key0", "key1", "key2", "key3", "key4").isError()).isTrue();
            assertThat(client.call("DBSIZE").isError()).isTrue();
            member.restart();
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> !client.call("SET", lost.getFirst(), "again").isError());
            assertThat(client.call("GET", lost.getFirst()).text()).isEqualTo("again");
            await().atMost(60, TimeUnit.SECONDS).until(() -> health(proxy, member).contains("state=up"));
        }
    }

    private static long connections(RedisMember member) throws IOException {
        String text = member.call("INFO", "clients").textOrEmpty();
        int at = text.indexOf("connected_clients:") + "connected_clients:".length();
        return Long.parseLong(text.substring(at, text.indexOf('\r', at)));
    }

    @Test
    void subscriptionsThatAnEjectedMemberRefuses_leaveNoConnectionsToOthers() throws Exception {
        try (TestProxy proxy = TestProxy.overServers(2); BlockingConnection client = proxy.connect()) {
            RedisMember member = proxy.members().getFirst();
            RedisMember other = proxy.members().getLast();
            List<String> lost = fill(proxy, member);
            String kept = java.util.stream.IntStream.range(0, KEYS).mapToObj(i -> "key" + i)
                    .filter(key -> !lost.contains(key)).findFirst().orElseThrow();
            member.kill();
            await().atMost(60, TimeUnit.SECONDS).until(() -> {
                client.call("GET", lost.getFirst());
                return health(proxy, member).contains("state=ejected");
            });
            long before = connections(other);
            for (int i = 0; i < 50; i++) {
                try (BlockingConnection listener = proxy.connect()) {
                    listener.send("SUBSCRIBE", lost.getFirst(), kept);
                    assertThatThrownBy(listener::read).isInstanceOf(IOException.class);
                }
            }
            await().atMost(60, TimeUnit.SECONDS).until(() -> connections(other) <= before);
        }
    }

    @Test
    void aWriteInFlightAtALostConnection_fails_andAReadIsRepeated() throws Exception {
        try (TestProxy proxy = TestProxy.overServers(1, "--member-reply-timeout-ms", "60000");
                BlockingConnection reader = proxy.connect();
                BlockingConnection writer = proxy.connect()) {
            RedisMember member = proxy.members().getFirst();
            reader.call("SET", "key", "value");
            writer.call("SET", "number", "1");
            member.freeze();
            long before = proxy.info("total_commands_processed");
            reader.send("GET", "key");
            writer.send("INCR", "number");
            await().atMost(10, TimeUnit.SECONDS).until(() -> proxy.info("total_commands_processed") >= before + 3);
            member.kill();
            member.restart();
            assertThat(writer.read().text()).contains("may have run");
            // The repeated read finds the restarted server, which is empty, or the pause before it.
            Reply repeated = reader.read();
            assertThat(repeated.text() == null || repeated.text().startsWith("CLUSTERDOWN")).isTrue();
            assertThat(proxy.info("retried_reads")).isPositive();
        }
    }

    @Test
    void aFrozenMember_timesOut_andDelaysNoOther() throws Exception {
        try (TestProxy proxy = TestProxy.overServers(3, "--member-reply-timeout-ms", "2000",
                "--member-connect-timeout-ms", "2000"); BlockingConnection client = proxy.connect()) {
            RedisMember member = proxy.members().getFirst();
            List<String> stuck = fill(proxy, member);
            member.freeze();
            try (BlockingConnection waiting = proxy.connect()) {
                waiting.send("GET", stuck.getFirst());
                for (int i = 0; i < KEYS; i++) {
                    if (!stuck.contains("key" + i)) {
                        assertThat(client.call("GET", "key" + i).text()).isEqualTo("value" + i);
                    }
                }
                assertThat(waiting.read().isError()).isTrue();
                await().atMost(60, TimeUnit.SECONDS).until(() -> {
                    waiting.call("GET", stuck.getFirst());
                    return health(proxy, member).contains("state=ejected");
                });
                assertThat(health(proxy, member)).doesNotContain("timeouts=0");
            }
            member.thaw();
            await().atMost(60, TimeUnit.SECONDS).until(() -> !client.call("GET", stuck.getFirst()).isError());
        }
    }

    @Test
    void aMemberThatDoesNotRead_stopsItsClient_andLosesNothing() throws Exception {
        String value = "v".repeat(1 << 20);
        int requests = 100;
        try (TestProxy proxy = TestProxy.overServers(1, "--member-reply-timeout-ms", "60000");
                BlockingConnection client = proxy.connect()) {
            RedisMember member = proxy.members().getFirst();
            proxy.call("PING");
            member.freeze();
            AtomicInteger sent = new AtomicInteger();
            Thread sender = Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < requests; i++) {
                        client.send("SET", "key" + i, value);
                        sent.incrementAndGet();
                    }
                } catch (IOException failed) {
                    throw new java.io.UncheckedIOException(failed);
                }
            });
            // The sender is held by TCP once all buffers are full: of the proxy, and of both sockets.
            AtomicInteger last = new AtomicInteger(-1);
            await().pollInterval(500, TimeUnit.MILLISECONDS).atMost(60, TimeUnit.SECONDS)
                    .until(() -> last.getAndSet(sent.get()) == sent.get());
            assertThat(sent.get()).isLessThan(requests / 2);
            member.thaw();
            sender.join(TimeUnit.SECONDS.toMillis(30));
            for (int i = 0; i < requests; i++) {
                assertThat(client.read().text()).isEqualTo("OK");
            }
        }
    }

    @Test
    void aClientThatDoesNotRead_isNotServedFurther_andDelaysNoOther() throws Exception {
        String value = "v".repeat(1 << 20);
        int requests = 100;
        try (TestProxy proxy = TestProxy.overServers(1, "--max-pipeline", "8");
                BlockingConnection slow = proxy.connect();
                BlockingConnection client = proxy.connect()) {
            proxy.call("SET", "large", value);
            for (int i = 0; i < requests; i++) {
                slow.send("GET", "large");
            }
            for (int i = 0; i < 200; i++) {
                assertThat(client.call("SET", "key" + i, "v").text()).isEqualTo("OK");
            }
            assertThat(proxy.info("slow_clients_disconnected")).isZero();
            for (int i = 0; i < requests; i++) {
                assertThat(slow.read().text()).hasSize(value.length());
            }
        }
    }

    @Test
    void aClientThatExceedsTheOutputLimit_isDisconnected() throws Exception {
        String value = "v".repeat(1 << 20);
        try (TestProxy proxy = TestProxy.overServers(1, "--client-output-buffer-limit", "1mb");
                BlockingConnection slow = proxy.connect()) {
            proxy.call("SET", "large", value);
            // In one write: the proxy may disconnect the client before a second one.
            slow.sendBytes("GET large\r\n".repeat(200).getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            await().atMost(60, TimeUnit.SECONDS).until(() -> proxy.info("slow_clients_disconnected") == 1);
            assertThat(proxy.call("GET", "none").text()).isNull();
        }
    }
}
