package io.varve.server.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the queries of Prometheus exporters and similar tools in RESP2, with the tools' own parsing. Confined to the
 * test's thread.
 */
class ExporterReadsTest {
    private static final Pattern DATABASE = Pattern.compile("keys=(\\d+),expires=(\\d+),avg_ttl=(\\d+)");
    private static final Pattern COMMAND = Pattern.compile(
            "calls=(\\d+),usec=(\\d+),usec_per_call=(\\d+\\.\\d+),rejected_calls=(\\d+),failed_calls=(\\d+)");
    private static final Pattern LATENCY = Pattern.compile("p50=([0-9.]+),p99=([0-9.]+),p99\\.9=([0-9.]+)");
    /** Fields that are text. */
    private static final Set<String> TEXT = Set.of("redis_version", "server_name", "varve_version", "redis_git_sha1",
            "redis_build_id", "redis_mode", "os", "monotonic_clock", "multiplexing_api", "java_version",
            "process_supervised", "run_id", "executable", "config_file", "maxmemory_policy", "mem_allocator",
            "rdb_last_bgsave_status", "aof_last_bgrewrite_status", "aof_last_write_status", "role",
            "master_failover_state", "listener0", "master_replid", "master_replid2", "cleaner_policy",
            "expire_algorithm", "paused_reason", "paused_actions");

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 1", "maxmemory 64mb", "latency-monitor-threshold 1",
            "slowlog-log-slower-than 1000");
    private RawClient client;

    @BeforeEach
    void start() throws IOException {
        client = server.connect();
        client.call("CLIENT", "SETNAME", "redis_exporter");
        client.call("SET", "key", "value", "EX", "1000");
        client.call("HGET", "key", "field");
        client.call("DEBUG", "SLEEP", "0.005");
    }

    private List<String> texts(String... command) throws IOException {
        RawReply reply = client.call(command);
        assertThat(reply.kind()).isEqualTo('*');
        List<String> texts = new ArrayList<>();
        for (RawReply element : reply.elements()) {
            assertThat(element.kind()).isEqualTo('$');
            texts.add(element.text());
        }
        return texts;
    }

    @Test
    void infoAllIsFieldsUnderHeads() throws IOException {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        String section = "";
        for (String line : client.call("INFO", "ALL").text().split("\r\n")) {
            if (line.startsWith("# ")) {
                section = line.substring(2);
                sections.put(section, new LinkedHashMap<>());
            } else if (!line.isEmpty()) {
                String[] parts = line.split(":", 2);
                assertThat(parts).as(line).hasSize(2);
                assertThat(Objects.requireNonNull(sections.get(section)).put(parts[0], parts[1])).as(line).isNull();
            }
        }
        assertThat(sections.keySet()).contains("Server", "Clients", "Memory", "Persistence", "Stats", "Replication",
                "CPU", "Commandstats", "Errorstats", "Latencystats", "Cluster", "Keyspace");
        for (String numbers : List.of("Server", "Clients", "Memory", "Persistence", "Stats", "Replication", "CPU",
                "Cluster", "Varve")) {
            assertThat(sections.get(numbers)).allSatisfy((field, value) -> {
                if (!TEXT.contains(field)) {
                    assertThat(value).as(field).matches("-?\\d+(\\.\\d+)?(%|[BKMGT])?");
                }
            });
        }
        assertThat(Objects.requireNonNull(sections.get("Keyspace")).get("db0")).matches(DATABASE)
                .startsWith("keys=1,expires=1,");
        assertThat(sections.get("Commandstats")).isNotEmpty()
                .allSatisfy((name, value) -> assertThat(name + value).matches("cmdstat_[a-z|-]+" + COMMAND));
        Matcher hget = COMMAND
                .matcher(Objects.requireNonNull(sections.get("Commandstats")).get("cmdstat_hget"));
        assertThat(hget.matches()).isTrue();
        assertThat(hget.group(1) + hget.group(4) + hget.group(5)).isEqualTo("101");
        assertThat(sections.get("Latencystats")).isNotEmpty().allSatisfy(
                (name, value) -> assertThat(name + value).matches("latency_percentiles_usec_[a-z|-]+" + LATENCY));
        assertThat(sections.get("Errorstats")).containsEntry("errorstat_WRONGTYPE", "count=1");
        assertThat(sections.get("Replication")).containsEntry("role", "master");
    }

    /** Two elements for each setting; the number of databases is among them. */
    @Test
    void configIsPairs() throws IOException {
        List<String> all = texts("CONFIG", "GET", "*");
        assertThat(all.size()).isEven();
        Map<String, String> settings = new LinkedHashMap<>();
        for (int i = 0; i < all.size(); i += 2) {
            assertThat(settings.put(all.get(i), all.get(i + 1))).as(all.get(i)).isNull();
        }
        assertThat(settings).containsEntry("databases", "16").containsEntry("maxmemory", "67108864")
                .containsKeys("maxclients", "timeout", "save", "slowlog-max-len", "metrics-port");
        assertThat(texts("CONFIG", "GET", "databases")).containsExactly("databases", "16");
    }

    @Test
    void theSlowLogReportsNumberTimeAndDuration() throws IOException {
        assertThat(client.call("SLOWLOG", "LEN").integer()).isPositive();
        RawReply entry = client.call("SLOWLOG", "GET", "1").elements().getFirst();
        assertThat(entry.elements()).extracting(RawReply::kind).containsExactly(':', ':', ':', '*', '$', '$');
        assertThat(entry.elements().get(0).integer()).isNotNegative();
        assertThat(entry.elements().get(1).integer()).isGreaterThan(1_700_000_000);
        assertThat(entry.elements().get(2).integer()).isGreaterThanOrEqualTo(1_000);
        assertThat(entry.elements().get(5).text()).isEqualTo("redis_exporter");
    }

    @Test
    void latenciesAreEventsAndHistograms() throws IOException {
        RawReply event = client.call("LATENCY", "LATEST").elements().stream()
                .filter(each -> each.elements().getFirst().text().equals("command")).findFirst().orElseThrow();
        assertThat(event.elements()).extracting(RawReply::kind).containsExactly('$', ':', ':', ':');
        assertThat(event.elements().get(2).integer()).isGreaterThanOrEqualTo(5);
        RawReply histograms = client.call("LATENCY", "HISTOGRAM", "set", "hget");
        assertThat(histograms.elements()).hasSize(4);
        for (int i = 0; i < 4; i += 2) {
            assertThat(histograms.elements().get(i).text()).isIn("set", "hget");
            List<RawReply> one = histograms.elements().get(i + 1).elements();
            assertThat(one.get(0).text()).isEqualTo("calls");
            assertThat(one.get(1).integer()).isEqualTo(1);
            assertThat(one.get(2).text()).isEqualTo("histogram_usec");
            List<RawReply> buckets = one.get(3).elements();
            assertThat(buckets).hasSize(2);
            assertThat(buckets.getLast().integer()).isEqualTo(1);
        }
    }

    @Test
    void clientsAreLinesOfPairs() throws IOException {
        String list = client.call("CLIENT", "LIST").text();
        assertThat(list).endsWith("\n");
        for (String line : list.strip().split("\n")) {
            Map<String, String> fields = new LinkedHashMap<>();
            for (String word : line.split(" ")) {
                String[] parts = word.split("=", 2);
                assertThat(parts).as(word).hasSize(2);
                fields.put(parts[0], parts[1]);
            }
            // Those of 7.0.15 in its order, and what 7.2 and 7.4 have more.
            assertThat(String.join(" ", fields.keySet())).isEqualTo("id addr laddr fd name age idle flags db sub psub"
                    + " ssub multi watch qbuf qbuf-free argv-mem multi-mem rbs rbp obl oll omem tot-mem events cmd user redir"
                    + " resp lib-name lib-ver");
            assertThat(fields).containsEntry("name", "redis_exporter").containsEntry("cmd", "client|list")
                    .containsEntry("flags", "N").containsEntry("user", "default").containsEntry("resp", "2");
            for (String number : List.of("id", "fd", "age", "idle", "db", "sub", "psub", "ssub", "qbuf", "qbuf-free",
                    "argv-mem", "multi-mem", "rbs", "rbp", "obl", "oll", "omem", "tot-mem")) {
                assertThat(fields.get(number)).as(number).matches("\\d+");
            }
            assertThat(fields.get("addr")).matches("127\\.0\\.0\\.1:\\d+");
        }
    }

    @Test
    void theRestIsThere() throws IOException {
        assertThat(client.call("MEMORY", "USAGE", "key").integer()).isPositive();
        List<RawReply> stats = client.call("MEMORY", "STATS").elements();
        assertThat(stats.size()).isEven();
        for (int i = 0; i < stats.size(); i += 2) {
            assertThat(stats.get(i).kind()).isEqualTo('$');
        }
        assertThat(client.call("MEMORY", "DOCTOR").kind()).isEqualTo('$');
        assertThat(client.call("MODULE", "LIST").elements()).isEmpty();
        assertThat(client.call("DBSIZE").integer()).isEqualTo(1);
        assertThat(client.call("TYPE", "key").text()).isEqualTo("string");
        assertThat(client.call("STRLEN", "key").integer()).isEqualTo(5);
        for (String fill : List.of("RPUSH l a", "SADD s a", "ZADD z 1 a", "HSET h f v", "PFADD p a")) {
            assertThat(client.call(fill.split(" ")).integer()).isEqualTo(1);
        }
        for (String size : List.of("LLEN l", "SCARD s", "ZCARD z", "HLEN h", "PFCOUNT p")) {
            assertThat(client.call(size.split(" ")).integer()).as(size).isEqualTo(1);
        }
        assertThat(client.call("CLUSTER", "INFO").isError()).isTrue();
        assertThat(client.call("SCAN", "0", "MATCH", "k*", "COUNT", "100", "TYPE", "string").elements().get(1)
                .elements()).hasSize(1);
        assertThat(client.call("OBJECT", "FREQ", "key").isError()).isTrue();
    }
}
