package io.varve.server.command.introspection;

import java.util.List;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** MEMORY, and OBJECT FREQ under an LFU policy. Confined to the test's thread. */
class MemoryCommandsTest {
    /** The statistics of Redis 7.0.15, in its order. */
    private static final List<String> STATS = List.of("peak.allocated", "total.allocated", "startup.allocated",
            "replication.backlog", "clients.slaves", "clients.normal", "cluster.links", "aof.buffer", "lua.caches",
            "functions.caches", "db.0", "overhead.hashtable.main", "overhead.hashtable.expires",
            "overhead.hashtable.slot-to-keys", "db.3", "overhead.hashtable.main", "overhead.hashtable.expires",
            "overhead.hashtable.slot-to-keys", "overhead.total", "keys.count", "keys.bytes-per-key", "dataset.bytes",
            "dataset.percentage", "peak.percentage", "allocator.allocated", "allocator.active", "allocator.resident",
            "allocator-fragmentation.ratio", "allocator-fragmentation.bytes", "allocator-rss.ratio",
            "allocator-rss.bytes", "rss-overhead.ratio", "rss-overhead.bytes", "fragmentation",
            "fragmentation.bytes");

    private final CommandHarness harness = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb")
            .with("shards", "4").with("maxmemory-policy", "allkeys-lfu"));

    @AfterEach
    void close() {
        harness.close();
    }

    private static List<String> names(String reply) {
        return reply.lines().filter(line -> line.matches("[a-z].*[a-z0-9]")).toList();
    }

    private static long value(String reply, String name) {
        List<String> lines = reply.lines().toList();
        return Long.parseLong(lines.get(lines.indexOf(name) + 1).substring(1));
    }

    @Test
    void statsAreThoseOfRedis() {
        harness.run("set", "a", "1");
        harness.run("set", "b", "1", "ex", "100");
        harness.run("select", "3");
        harness.run("set", "a", "1");
        String reply = harness.run("memory", "stats");
        assertThat(names(reply)).isEqualTo(STATS);
        assertThat(reply).startsWith("*58\r\n").contains("$4\r\ndb.0\r\n*6\r\n");
        assertThat(value(reply, "keys.count")).isEqualTo(3);
        assertThat(value(reply, "total.allocated")).isGreaterThan(value(reply, "dataset.bytes"))
                .isLessThanOrEqualTo(value(reply, "peak.allocated"));
        assertThat(value(reply, "overhead.total") + value(reply, "dataset.bytes"))
                .isEqualTo(value(reply, "total.allocated"));
        assertThat(value(reply, "overhead.hashtable.main")).isPositive();
        assertThat(value(reply, "overhead.hashtable.expires")).isPositive();
        harness.run("hello", "3");
        String map = harness.run("memory", "stats");
        assertThat(map).startsWith("%29\r\n").contains("$4\r\ndb.3\r\n%3\r\n").containsPattern(
                "\\$18\r\ndataset.percentage\r\n,[0-9.]+\r\n");
        assertThat(names(map)).isEqualTo(STATS);
    }

    @Test
    void theDoctorNeedsDataFirst() {
        assertThat(harness.run("memory", "doctor")).contains("Too little memory is in use");
        String value = "x".repeat(1000);
        for (int i = 0; i < 8_000; i++) {
            harness.run("set", "key" + i, value);
        }
        assertThat(harness.run("memory", "doctor")).startsWith("$").doesNotContain("Too little");
    }

    @Test
    void theAllocatorReports() {
        assertThat(harness.run("memory", "malloc-stats")).contains("Allocator: offheap-segments",
                "limit (maxmemory): 67108864 (64.00M)", "segments in use: ", "JVM heap used: ",
                "JVM buffers, direct: ");
    }

    @Test
    void purgedMemoryReturnsToTheSystem() {
        String value = "x".repeat(10_000);
        for (int i = 0; i < 2_000; i++) {
            harness.run("set", "key" + i, value);
        }
        harness.run("flushall");
        long idleNanos = 0;
        while (idleNanos == 0) {
            idleNanos = harness.cache().maintain();
        }
        assertThat(harness.cache().stats().segmentsFree()).isPositive();
        long held = harness.cache().stats().chargedBytes();
        assertThat(harness.run("memory", "purge")).isEqualTo("+OK\r\n");
        assertThat(harness.cache().stats().chargedBytes()).isEqualTo(held);
        harness.cache().maintain();
        assertThat(harness.cache().stats().segmentsFree()).isZero();
        assertThat(harness.cache().stats().chargedBytes()).isLessThan(held);
        assertThat(harness.run("set", "key", value)).isEqualTo("+OK\r\n");
    }

    @Test
    void usageTakesSamplesAndNothingElse() {
        harness.run("set", "k", "v");
        String usage = harness.run("memory", "usage", "k");
        assertThat(usage).matches(":\\d+\r\n");
        assertThat(harness.run("memory", "usage", "k", "samples", "0")).isEqualTo(usage);
        assertThat(harness.run("memory", "usage", "k", "samples", "-1")).isEqualTo("-ERR syntax error\r\n");
        assertThat(harness.run("memory", "usage", "k", "samples")).isEqualTo("-ERR syntax error\r\n");
        assertThat(harness.run("memory", "usage", "nosuch")).isEqualTo("$-1\r\n");
    }

    @Test
    void aFrequencyGrowsAndFadesWhereThePolicyCounts() {
        harness.run("set", "k", "some text");
        assertThat(harness.run("object", "freq", "k")).isEqualTo(":5\r\n");
        for (int i = 0; i < 1_000; i++) {
            harness.run("get", "k");
        }
        String used = harness.run("object", "freq", "k");
        assertThat(Long.parseLong(used.strip().substring(1))).isBetween(7L, 40L);
        assertThat(harness.run("object", "freq", "k")).as("looking is no use").isEqualTo(used);
        harness.sleep(60_000L * 60);
        assertThat(harness.run("object", "freq", "k")).isEqualTo(":0\r\n");
        assertThat(harness.run("object", "freq", "nosuch")).isEqualTo("$-1\r\n");
        assertThat(harness.run("object", "idletime", "k")).startsWith("-ERR An LFU maxmemory policy is selected");
    }
}
