package io.varve.server.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.PrometheusText;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** The HTTP endpoint of a real server, with all tiers. Confined to the test's thread. */
class MetricsIT {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    private Path folder;
    private final HttpClient http = HttpClient.newHttpClient();

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static ServerConfig config(int port) {
        return ServerConfig.defaults().with("port", "0").with("io-threads", "2").with("maxmemory", "64mb")
                .with("metrics-port", Integer.toString(port));
    }

    private ServerConfig withFlash(int port) {
        return config(port).with("flash-dir", folder.resolve("flash").toString()).with("flash-max-items", "1000")
                .with("maxmemory-policy", "allkeys-lru").with("penalty-tracking", "yes");
    }

    private HttpResponse<String> get(int port, String path) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private PrometheusText scrape(int port) throws Exception {
        HttpResponse<String> response = get(port, "/metrics");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("content-type")).hasValue("text/plain; version=0.0.4; charset=utf-8");
        return PrometheusText.parse(response.body());
    }

    @Test
    void commandsAreCountedAndTimed() throws Exception {
        int port = freePort();
        try (VarveServer server = servers.start(config(port)); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < 100; i++) {
                client.call("SET", "key" + i, "value");
            }
            client.call("GET", "key1");
            client.call("GET", "nosuch");
            client.call("GET");
            client.call("HGET", "key1", "field");
            client.call("CONFIG", "GET", "port");
            client.call("SELECT", "3");
            client.call("SET", "key", "value", "EX", "1000");
            PrometheusText text = scrape(port);
            assertThat(text.value("varve_command_calls_total", "command", "set")).isEqualTo(101);
            assertThat(text.value("varve_command_calls_total", "command", "config|get")).isEqualTo(1);
            assertThat(text.value("varve_command_rejections_total", "command", "get")).isEqualTo(1);
            assertThat(text.value("varve_command_failures_total", "command", "hget")).isEqualTo(1);
            assertThat(text.value("varve_error_replies_total", "error", "ERR")).isEqualTo(1);
            assertThat(text.value("varve_error_replies_total", "error", "WRONGTYPE")).isEqualTo(1);
            assertThat(text.value("varve_keyspace_hits_total")).isEqualTo(2);
            assertThat(text.value("varve_keyspace_misses_total")).isEqualTo(1);
            assertThat(text.value("varve_db_keys", "db", "0")).isEqualTo(100);
            assertThat(text.value("varve_db_keys", "db", "3")).isEqualTo(1);
            assertThat(text.value("varve_db_expiring_keys", "db", "3")).isEqualTo(1);
            assertThat(text.value("varve_connections_open")).isEqualTo(1);
            assertThat(text.value("varve_commands_processed_total"))
                    .as("all but the one that was refused").isEqualTo(106);
            assertThat(text.value("varve_memory_dataset_bytes")).isGreaterThan(100 * 9);
            assertHistogram(text, "set", 101);
            client.call("CONFIG", "RESETSTAT");
            client.call("SET", "key", "value");
            assertHistogram(scrape(port), "set", 1);
        }
    }

    private static void assertHistogram(PrometheusText text, String command, int calls) {
        assertThat(text.types()).containsEntry("varve_command_duration_seconds", "histogram");
        List<PrometheusText.Sample> buckets = text.of("varve_command_duration_seconds_bucket").stream()
                .filter(sample -> command.equals(sample.labels().get("command"))).toList();
        assertThat(buckets).hasSizeGreaterThan(15);
        List<Double> bounds = new ArrayList<>();
        List<Double> counts = new ArrayList<>();
        buckets.forEach(bucket -> {
            String bound = Objects.requireNonNull(bucket.labels().get("le"));
            bounds.add(bound.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bound));
            counts.add(bucket.value());
        });
        assertThat(bounds).isSorted().endsWith(Double.POSITIVE_INFINITY);
        assertThat(counts).isSorted().endsWith((double) calls);
        assertThat(text.value("varve_command_duration_seconds_count", "command", command)).isEqualTo(calls);
        assertThat(text.value("varve_command_duration_seconds_sum", "command", command)).isPositive();
    }

    @Test
    void withoutLatencyTrackingThereAreNoHistograms() throws Exception {
        int port = freePort();
        try (VarveServer server = servers.start(config(port).with("latency-tracking", "no"));
                RawClient client = new RawClient(server.port())) {
            client.call("SET", "key", "value");
            PrometheusText text = scrape(port);
            assertThat(text.value("varve_command_calls_total", "command", "set")).isEqualTo(1);
            assertThat(text.types()).doesNotContainKey("varve_command_duration_seconds");
        }
    }

    /** The operator's page names what there is, and nothing that is not. */
    @Test
    void everyMetricIsInTheOperatorsPageAndTheOtherWayRound() throws Exception {
        int port = freePort();
        TreeSet<String> reported;
        try (VarveServer server = servers.start(withFlash(port)); RawClient client = new RawClient(server.port())) {
            client.call("SET", "key", "value");
            client.call("GET");
            client.call("HGET", "key", "field");
            reported = new TreeSet<>(scrape(port).types().keySet());
        }
        reported.removeIf(name -> !name.startsWith("varve_"));
        TreeSet<String> documented = new TreeSet<>();
        Matcher name = Pattern.compile("^\\| `(varve_[a-z0-9_]+)`", Pattern.MULTILINE)
                .matcher(Files.readString(Path.of("..", "docs", "OPERATING.md")));
        while (name.find()) {
            assertThat(documented.add(name.group(1))).as(name.group(1)).isTrue();
        }
        assertThat(documented).isEqualTo(reported);
    }

    @Test
    void aServerWithFlashBecomesReady() throws Exception {
        int port = freePort();
        try (VarveServer server = servers.start(withFlash(port))) {
            assertThat(server.port()).isPositive();
            assertThat(get(port, "/health/live").body()).isEqualTo("live\n");
            await().atMost(20, SECONDS).untilAsserted(
                    () -> assertThat(get(port, "/health/ready").body()).isEqualTo("ready\n"));
            assertThat(get(port, "/health/ready").statusCode()).isEqualTo(200);
            assertThat(scrape(port).value("varve_flash_complete")).isEqualTo(1);
            assertThat(get(port, "/nosuch").statusCode()).isEqualTo(404);
        }
        assertThatThrownBy(() -> get(port, "/health/live")).isInstanceOf(IOException.class);
    }

    @Test
    void aStoppingServerIsNotReady() throws Exception {
        int port = freePort();
        try (VarveServer server = servers.start(config(port)); RawClient client = new RawClient(server.port())) {
            assertThat(get(port, "/health/ready").statusCode()).isEqualTo(200);
            client.send("SHUTDOWN NOSAVE\r\n");
            server.awaitShutdown();
            HttpResponse<String> response = get(port, "/health/ready");
            assertThat(response.statusCode()).isEqualTo(503);
            assertThat(response.body()).isEqualTo("stopping\n");
            assertThat(get(port, "/health/live").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void requestsInOneWriteHaveOneAnswerAndTheEnd() throws Exception {
        int port = freePort();
        try (VarveServer server = servers.start(config(port));
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            assertThat(server.port()).isPositive();
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1000)
                    .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n").endsWith("\r\n\r\nlive\n");
            assertThat(answer.indexOf("HTTP/1.1", 1)).isNegative();
        }
    }

    @Test
    void oneConnectionTooManyIsClosedAndTheOthersAreServed() throws Exception {
        int port = freePort();
        List<Socket> open = new ArrayList<>();
        try (VarveServer server = servers.start(config(port))) {
            assertThat(server.port()).isPositive();
            for (int i = 0; i < 16; i++) {
                open.add(new Socket(InetAddress.getLoopbackAddress(), port));
            }
            try (Socket oneMore = new Socket(InetAddress.getLoopbackAddress(), port)) {
                oneMore.setSoTimeout(20_000);
                assertThat(oneMore.getInputStream().read()).isNegative();
            }
            Socket first = open.getFirst();
            first.getOutputStream().write("GET /health/live HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(first.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)).endsWith("live\n");
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    @Test
    void aPortThatIsTakenStopsTheStart() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();
            assertThatThrownBy(() -> servers.start(config(port))).isInstanceOf(IOException.class)
                    .hasMessageContaining("127.0.0.1:" + port + " for metrics");
        }
    }

    @Test
    void anAddressThatIsNoneStopsTheStart() throws Exception {
        int port = freePort();
        assertThatThrownBy(() -> servers.start(config(port).with("metrics-bind", "no.such.host.invalid")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no.such.host.invalid:" + port + " for metrics: this name has no address");
    }

    @Test
    void withoutAPortThereIsNoThreadForIt() throws IOException {
        try (VarveServer server = servers.start(config(0))) {
            assertThat(server.port()).isPositive();
            assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
                    .noneMatch(name -> name.startsWith("varve-metrics"));
        }
    }

    @Test
    void theBannerNamesTheMetricsAddress() throws Exception {
        int port = freePort();
        try (ServerProcess process = ServerProcess.start("--maxmemory", "64mb", "--metrics-port",
                Integer.toString(port))) {
            assertThat(get(port, "/health/ready").body()).isEqualTo("ready\n");
            assertThat(scrape(port).value("varve_ready")).isEqualTo(1);
            assertThat(process.errors()).contains("Metrics at http://127.0.0.1:" + port + "/metrics");
        }
    }
}
