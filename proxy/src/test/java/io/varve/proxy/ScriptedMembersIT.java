package io.varve.proxy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.testing.ScriptedMember;
import io.varve.proxy.testing.TestProxy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the proxy over members that answer as a test chooses. Confined to the test's thread and the members'. */
class ScriptedMembersIT {
    /** Returns once the client's event loop has the map: WATCH and blocking commands do not wait for it. */
    private static Reply awaitMap(BlockingConnection client) throws IOException {
        Reply reply = client.call("STRLEN", "other");
        assertThat(reply.isError()).isFalse();
        return reply;
    }

    @Test
    void aSubscriptionThatAllMembersRefuse_hasOneReply() throws IOException {
        String error = "-NOPERM " + "x".repeat(200_000) + "\r\n";
        ScriptedMember.Script script = request -> switch (request) {
            case "PSUBSCRIBE news.*" -> error;
            case "PUNSUBSCRIBE news.*" -> "*3\r\n$12\r\npunsubscribe\r\n$6\r\nnews.*\r\n:0\r\n";
            default -> null;
        };
        try (ScriptedMember first = new ScriptedMember(script);
                ScriptedMember second = new ScriptedMember(script);
                TestProxy proxy = TestProxy.at(first.address() + "," + second.address(), List.of(), "--member-kind",
                        "plain", "--client-output-buffer-limit", "1mb");
                BlockingConnection client = proxy.connect()) {
            for (int i = 0; i < 30; i++) {
                assertThat(client.call("PSUBSCRIBE", "news.*").text()).startsWith("NOPERM");
                assertThat(client.call("SET", "key", "value").text()).isEqualTo("OK");
            }
            assertThat(proxy.info("slow_clients_disconnected")).isZero();
        }
    }

    @Test
    void execAfterWatch_thatTheMemberRedirects_isNull() throws IOException {
        AtomicBoolean isQueued = new AtomicBoolean();
        try (ScriptedMember member = new ScriptedMember(request -> switch (request) {
            case "SET key value" -> {
                isQueued.set(true);
                yield "+QUEUED\r\n";
            }
            case "EXEC" -> isQueued.get() ? "-MOVED 12539 127.0.0.1:1\r\n" : "*0\r\n";
            default -> null;
        }); TestProxy proxy = TestProxy.at(member.address(), List.of()); BlockingConnection client = proxy.connect()) {
            awaitMap(client);
            assertThat(client.call("WATCH", "key").text()).isEqualTo("OK");
            assertThat(client.call("MULTI").text()).isEqualTo("OK");
            assertThat(client.call("SET", "key", "value").text()).isEqualTo("QUEUED");
            Reply reply = client.call("EXEC");
            assertThat(reply.isError()).isFalse();
            assertThat(reply.text()).isNull();
        }
    }

    @Test
    void aCommandAfterWatch_thatTheMemberRedirects_runsElsewhere_andExecIsNull() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        AtomicReference<ScriptedMember> known = new AtomicReference<>();
        try (ScriptedMember member = new ScriptedMember(request -> switch (request) {
            case "GET key", "BLPOP key 0" ->
                asked.getAndIncrement() % 2 == 0
                        ? "-MOVED 12539 " + Objects.requireNonNull(known.get()).address() + "\r\n"
                        : "+served\r\n";
            default -> null;
        }); TestProxy proxy = TestProxy.at(member.address(), List.of()); BlockingConnection client = proxy.connect()) {
            known.set(member);
            awaitMap(client);
            for (List<String> command : List.of(List.of("GET", "key"), List.of("BLPOP", "key", "0"))) {
                assertThat(client.call("WATCH", "key").text()).isEqualTo("OK");
                assertThat(client.call(command.toArray(String[]::new)).text()).isEqualTo("served");
                assertThat(client.call("MULTI").text()).isEqualTo("OK");
                assertThat(client.call("SET", "key", "value").text()).isEqualTo("QUEUED");
                Reply reply = client.call("EXEC");
                assertThat(reply.isError()).isFalse();
                assertThat(reply.text()).isNull();
            }
            assertThat(member.count("SET key value")).isZero();
        }
    }

    @Test
    void failuresOnConnectionsOfTheClient_areCounted() throws IOException {
        assertThat(failedRequests("BLPOP key 0")).isEqualTo(1);
        assertThat(failedRequests("WATCH key", "INCR key")).isEqualTo(1);
    }

    /** The number that INFO shows after some requests, if the member breaks the connection at the last one. */
    private static long failedRequests(String... requests) throws IOException {
        String last = requests[requests.length - 1];
        try (ScriptedMember member = new ScriptedMember(request -> request.equals(last) ? "not a reply\r\n" : null);
                TestProxy proxy = TestProxy.at(member.address(), List.of());
                BlockingConnection client = proxy.connect()) {
            Reply reply = awaitMap(client);
            for (String request : requests) {
                reply = client.call(request.split(" ", -1));
            }
            assertThat(reply.text()).contains("may have run");
            return proxy.info("failed_requests");
        }
    }

    @Test
    void aReadAfterHello_doesNotOvertakeAWriteBefore() throws IOException {
        CountDownLatch isRead = new CountDownLatch(1);
        AtomicBoolean isOvertaken = new AtomicBoolean();
        try (ScriptedMember member = new ScriptedMember(request -> switch (request) {
            case "SET key value" -> {
                // Gives a read the time to overtake.
                isOvertaken.set(isRead.await(1, TimeUnit.SECONDS));
                yield "+OK\r\n";
            }
            case "GET key" -> {
                isRead.countDown();
                yield "+value\r\n";
            }
            default -> null;
        }); TestProxy proxy = TestProxy.at(member.address(), List.of()); BlockingConnection client = proxy.connect()) {
            client.sendBytes("SET key value\r\nHELLO 3\r\nGET key\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().kind()).isEqualTo('%');
            assertThat(client.read().text()).isEqualTo("value");
            assertThat(isOvertaken).isFalse();
        }
    }
}
