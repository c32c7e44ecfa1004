package io.varve.server.clients;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RedisTools;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs Redis's own programs, if they are installed, against a real server. Confined to the test's thread. */
class RedisToolsIT {
    @RegisterExtension
    static final ServerExtension server = ServerExtension.with("io-threads 2", "maxmemory 128mb");

    @BeforeEach
    void installed() throws IOException {
        RedisTools.require();
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.command("FLUSHALL")).isEqualTo("+OK\r\n");
        }
    }

    /** Runs a program until it ends, or until it has written so many lines. */
    private static String run(int lines, String program, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(program, "-h", "127.0.0.1", "-p",
                Integer.toString(server.port())));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (var reader = process.inputReader(StandardCharsets.ISO_8859_1)) {
            process.getOutputStream().close();
            StringBuilder output = new StringBuilder();
            int count = 0;
            for (String line = reader.readLine(); line != null && count < lines; line = reader.readLine()) {
                output.append(line).append('\n');
                count++;
            }
            if (count < lines) {
                assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).as(output.toString()).isZero();
            }
            return output.toString();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String cli(String... arguments) throws Exception {
        return run(Integer.MAX_VALUE, "redis-cli", arguments);
    }

    @Test
    void redisCli() throws Exception {
        assertThat(cli("SET", "k", "v")).isEqualTo("OK\n");
        assertThat(cli("GET", "k")).isEqualTo("v\n");
        assertThat(cli("-3", "HSET", "h", "f", "1")).isEqualTo("1\n");
        assertThat(cli("-3", "HGETALL", "h")).isEqualTo("f 1\n");
        assertThat(cli("--no-raw", "HGETALL", "h")).isEqualTo("1) \"f\"\n2) \"1\"\n");
        assertThat(cli("INFO")).contains("# Server", "redis_version:7.4", "# Keyspace", "db0:keys=2,expires=0");
        assertThat(cli("--scan").lines()).containsExactlyInAnyOrder("k", "h");
        assertThat(cli("--scan", "--pattern", "k*")).isEqualTo("k\n");
        assertThat(cli("--bigkeys")).contains("Sampled 2 keys", "1 strings with 1 bytes", "1 hashs with 1 fields");
        assertThat(cli("--memkeys")).contains("Sampled 2 keys");
        assertThat(run(4, "redis-cli", "--stat", "-i", "0.1")).contains("keys", "mem", "clients", "2 ");
        assertThat(run(2, "redis-cli", "--latency", "-i", "1", "--raw")).isNotEmpty();
    }

    @Test
    void redisCliFindsTheBiggestOfEachType() throws Exception {
        try (RawClient client = new RawClient(server.port())) {
            client.call("RPUSH", "list", "a", "b", "c");
            client.call("SADD", "set", "a", "b");
            client.call("ZADD", "sorted", "1", "a", "2", "b", "3", "c", "4", "d");
            client.call("HSET", "hash", "f", "v");
            client.call("SET", "string", "value");
        }
        assertThat(cli("--bigkeys")).contains("Sampled 5 keys", "1 lists with 3 items", "1 sets with 2 members",
                "1 zsets with 4 members", "1 hashs with 1 fields", "1 strings with 5 bytes");
        assertThat(cli("--memkeys")).contains("Sampled 5 keys", "1 lists with", "1 sets with", "1 zsets with");
    }

    /** The monitoring tools of an operator, each until it has shown something. */
    @Test
    void redisCliWatches() throws Exception {
        assertThat(cli("SET", "key", "value")).isEqualTo("OK\n");
        assertThat(run(3, "redis-cli", "--latency-history", "-i", "1", "--raw")).isNotEmpty();
        assertThat(cli("--intrinsic-latency", "1")).contains("Max latency so far", "total runs");
        assertThat(cli("SLOWLOG", "LEN")).matches("\\d+\n");
        assertThat(cli("LATENCY", "DOCTOR")).contains("latency-monitor-threshold");
        assertThat(cli("MEMORY", "DOCTOR")).isNotBlank();
        assertThat(cli("MEMORY", "MALLOC-STATS")).contains("offheap-segments");
        assertThat(cli("MEMORY", "STATS")).contains("peak.allocated", "db.0");
    }

    @Test
    void redisCliFindsHotKeys() throws Exception {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu")).isEqualTo("+OK\r\n");
            try {
                for (int i = 0; i < 20; i++) {
                    client.call("SET", "key" + i, "value");
                }
                for (int i = 0; i < 2_000; i++) {
                    client.call("GET", "key7");
                }
                assertThat(cli("--hotkeys")).contains("Sampled 20 keys").containsPattern(
                        "hot key found with counter: \\d{2,}\tkeyname: \"?key7\"?\n");
            } finally {
                assertThat(client.command("CONFIG", "SET", "maxmemory-policy", "noeviction")).isEqualTo("+OK\r\n");
            }
        }
    }

    private static void assertNoErrors(String output, String... tests) {
        assertThat(output.toLowerCase(java.util.Locale.ROOT)).doesNotContain("error", "warning", "could not");
        assertThat(output).contains(tests);
    }

    /** All its tests, one after the other, as it does if no one is named. */
    @Test
    void redisBenchmarkByDefault() throws Exception {
        String csv = run(Integer.MAX_VALUE, "redis-benchmark", "-n", "2000", "-r", "1000", "--csv");
        assertNoErrors(csv, "PING_INLINE");
        assertThat(csv.lines().skip(1).map(line -> line.substring(1, line.indexOf("\",\"")))).containsExactly(
                "PING_INLINE",
                "PING_MBULK", "SET", "GET", "INCR", "LPUSH", "RPUSH", "LPOP", "RPOP", "SADD", "HSET", "SPOP", "ZADD",
                "ZPOPMIN", "LPUSH (needed to benchmark LRANGE)", "LRANGE_100 (first 100 elements)",
                "LRANGE_300 (first 300 elements)", "LRANGE_500 (first 500 elements)",
                "LRANGE_600 (first 600 elements)", "MSET (10 keys)");
    }

    /** Long lists and large sorted sets. */
    @Test
    void redisBenchmarkOfCollections() throws Exception {
        assertNoErrors(run(Integer.MAX_VALUE, "redis-benchmark", "-t",
                "lpush,rpush,lpop,rpop,lrange_100,lrange_600,zadd,zpopmin",
                "-n", "20000", "-P", "16", "-r", "10000", "-q"), "LPUSH", "RPUSH", "LPOP", "RPOP", "LRANGE_100",
                "LRANGE_600", "ZADD", "ZPOPMIN");
    }

    @Test
    void redisBenchmark() throws Exception {
        String[] tests = {"SET", "GET", "INCR", "HSET", "MSET (10 keys)"};
        String selected = "set,get,incr,hset,mset";
        assertNoErrors(run(Integer.MAX_VALUE, "redis-benchmark", "-t", selected, "-n", "20000", "-P", "16", "-q"),
                tests);
        assertNoErrors(run(Integer.MAX_VALUE, "redis-benchmark", "-t", selected, "-n", "20000", "-P", "16", "-q", "-r",
                "5000"), tests);
        String csv = run(Integer.MAX_VALUE, "redis-benchmark", "-t", selected, "-n", "20000", "-P", "16", "--csv",
                "--threads", "2");
        assertNoErrors(csv, "\"SET\",\"", "\"MSET (10 keys)\",\"");
        assertThat(csv.lines()).hasSize(1 + tests.length);
        String single = run(Integer.MAX_VALUE, "redis-benchmark", "-t", "ping,set,get", "-n", "2000", "-d", "4000");
        assertNoErrors(single, "PING_INLINE", "PING_MBULK", "SET", "GET", "host configuration \"save\": ",
                "host configuration \"appendonly\": no");
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.call("DBSIZE").integer()).isGreaterThan(4_000);
            assertThat(client.call("GET", "counter:__rand_int__").text()).isEqualTo("40000");
        }
    }
}
