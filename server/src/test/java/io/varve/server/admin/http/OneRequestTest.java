package io.varve.server.admin.http;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.varve.memory.item.Ticker;
import io.varve.server.admin.metrics.Health;
import io.varve.server.admin.metrics.Metrics;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests one connection of the endpoint, with a clock that the test advances. Confined to the test's thread. */
class OneRequestTest {
    private static final ServerConfig CONFIG = ServerConfig.defaults().with("maxmemory", "64mb");

    private final Health health = new Health();
    private final Metrics metrics = new Metrics(new ServerState(StubCache.create(CONFIG.cacheConfig()), CONFIG,
            Ticker.system(), _ -> {}).telemetry(), health);
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInitializer<Channel>() {
        @Override
        protected void initChannel(Channel fresh) {
            OneRequest.serve(fresh.pipeline(), metrics, health);
        }
    });

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
        metrics.close();
    }

    private void receive(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
    }

    private String sent() {
        StringBuilder text = new StringBuilder();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            text.append(part.toString(StandardCharsets.UTF_8));
            part.release();
        }
        return text.toString();
    }

    private String send(String text) {
        receive(text);
        return sent();
    }

    private static String get(String path) {
        return "GET " + path + " HTTP/1.1\r\nHost: here\r\n\r\n";
    }

    private void pass(int seconds) {
        channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
    }

    @Test
    void metricsAreText() {
        assertThat(send(get("/metrics"))).startsWith("HTTP/1.1 200 OK\r\n")
                .contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n", "connection: close\r\n",
                        "cache-control: no-store\r\n", "\n# TYPE varve_memory_used_bytes gauge\n");
    }

    @Test
    void aHeadRequestReturnsNoBody() {
        String head = send("HEAD /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
        assertThat(head).startsWith("HTTP/1.1 200 OK\r\n").endsWith("\r\n\r\n").doesNotContain("varve_")
                .containsPattern("content-length: \\d{4,}\r\n");
    }

    @Test
    void aQueryIsIgnoredAndOldHttpNeedsNoHost() {
        assertThat(send("GET /health/live?x=/metrics HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 200 OK\r\n")
                .endsWith("\r\n\r\nlive\n");
    }

    @Test
    void readinessFollowsTheServersLife() {
        assertThat(send(get("/health/ready"))).startsWith("HTTP/1.1 503 ").endsWith("\r\n\r\nstarting\n");
    }

    @Test
    void aServerThatListensAndHasLoadedIsReady() {
        health.loaded();
        health.listening();
        assertThat(send(get("/health/ready"))).startsWith("HTTP/1.1 200 ").endsWith("\r\n\r\nready\n");
    }

    @Test
    void oneThatEndsIsAliveAndNotReady() {
        health.loaded();
        health.listening();
        health.stopping();
        assertThat(send(get("/health/ready"))).startsWith("HTTP/1.1 503 ").endsWith("\r\n\r\nstopping\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/metric", "/metrics/", "/health", "*", "//metrics", "/health/ready/x"})
    void unknownPathsAreNotFound(String path) {
        assertThat(send(get(path))).startsWith("HTTP/1.1 404 ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"})
    void otherMethodsAreNotAllowed(String method) {
        assertThat(send(method + " /metrics HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n"))
                .startsWith("HTTP/1.1 405 ").contains("allow: GET, HEAD\r\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"GET /metrics HTTP/1.1\\r\\n\\r\\n", "nonsense\\r\\n\\r\\n",
            "GET /metrics FTP/1.1\\r\\nHost: a\\r\\n\\r\\n", "*1\\r\\n$4\\r\\nPING\\r\\n\\r\\n",
            "GET /metrics HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: x\\r\\n\\r\\n",
            "GET /metrics HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: -1\\r\\n\\r\\n",
            "GET /metrics HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1\\r\\nContent-Length: 2\\r\\n\\r\\n"})
    void malformedRequestsAreBadRequests(String request) {
        assertThat(send(request.replace("\\r\\n", "\r\n"))).startsWith("HTTP/1.1 400 ");
    }

    @Test
    void aLongLineIsTooBig() {
        assertThat(send("GET /" + "x".repeat(3000) + " HTTP/1.1\r\nHost: a\r\n\r\n")).startsWith("HTTP/1.1 413 ");
    }

    @Test
    void longHeadersAreTooBig() {
        assertThat(send("GET /metrics HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(9000) + "\r\n\r\n"))
                .startsWith("HTTP/1.1 413 ");
    }

    @Test
    void anAnnouncedBodyIsTooBigBeforeItComes() {
        assertThat(send("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 8193\r\n\r\n"))
                .startsWith("HTTP/1.1 413 ");
    }

    @Test
    void aBodyInPiecesIsTooBigOnceItIs() {
        String piece = "1000\r\n" + "x".repeat(0x1000) + "\r\n";
        assertThat(send("POST /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + piece + piece))
                .isEmpty();
        assertThat(send(piece)).startsWith("HTTP/1.1 413 ");
    }

    @Test
    void expectContinueIsAnsweredAtOnce() {
        assertThat(send("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n"))
                .startsWith("HTTP/1.1 405 ");
    }

    @Test
    void manyRequestsAtOnceHaveOneAnswer() {
        String answers = send(get("/health/live").repeat(1000));
        assertThat(answers.split("HTTP/1.1 200", -1)).hasSize(2);
        assertThat(send(get("/health/live"))).isEmpty();
    }

    @Test
    void anIdleClientGetsRequestTimeout() {
        channel.freezeTime();
        pass(OneRequest.RECEIVE_SECONDS - 1);
        assertThat(sent()).isEmpty();
        assertThat(channel.isOpen()).isTrue();
        pass(1);
        assertThat(sent()).startsWith("HTTP/1.1 408 ");
        pass(OneRequest.LINGER_SECONDS);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aSlowRequestGetsNoExtraTime() {
        channel.freezeTime();
        String request = get("/metrics");
        for (int i = 0; i < OneRequest.RECEIVE_SECONDS; i++) {
            receive(request.substring(i, i + 1));
            pass(1);
        }
        assertThat(sent()).startsWith("HTTP/1.1 408 ");
    }

    @Test
    void theConnectionIsClosedAWhileAfterTheAnswer() {
        channel.freezeTime();
        assertThat(send(get("/health/live"))).startsWith("HTTP/1.1 200 ");
        pass(OneRequest.LINGER_SECONDS - 1);
        assertThat(channel.isOpen()).isTrue();
        pass(1);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aClientThatKeepsSendingAfterTheAnswerIsClosed() {
        channel.freezeTime();
        assertThat(send("POST /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + "2001\r\n"
                + "x".repeat(0x2001) + "\r\n")).startsWith("HTTP/1.1 413 ");
        String piece = "10000\r\n" + "x".repeat(0x10000) + "\r\n";
        for (int i = 0; i < 17 && channel.isOpen(); i++) {
            receive(piece);
        }
        assertThat(channel.isOpen()).isFalse();
    }
}
