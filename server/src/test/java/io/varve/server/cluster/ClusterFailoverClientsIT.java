package io.varve.server.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Cluster clients increment counters while a primary is killed and starts again, and while slots move. The scripts in
 * {@code it/clients/cluster} do the same with clients of other languages.
 */
class ClusterFailoverClientsIT {
    private static final Duration WAIT = Duration.ofMinutes(2);
    private static final int KEYS = 50;
    private static final int CALM_INCREMENTS = 2 * KEYS;

    @TempDir
    Path folder;

    /** Increments a key. */
    private interface Increment {
        long of(String key);
    }

    /** The replies that a client has received. Its own thread writes. */
    private static final class Report {
        private final AtomicInteger calm = new AtomicInteger();
        private final AtomicInteger increments = new AtomicInteger();
        private final Map<String, Integer> errors = new ConcurrentSkipListMap<>();
        /** Increments that were acknowledged and are lost: replication is asynchronous. */
        private final AtomicInteger lost = new AtomicInteger();

        int errorCount() {
            return errors.values().stream().mapToInt(count -> count).sum();
        }

        @Override
        public String toString() {
            return increments + " increments, errors " + errors + ", " + lost + " values went back";
        }
    }

    private static void count(Increment increment, AtomicBoolean done, Report report) {
        long[] last = new long[KEYS];
        for (int i = 0; !done.get(); i++) {
            int key = i % KEYS;
            try {
                long value = increment.of("counter" + key);
                report.increments.incrementAndGet();
                report.calm.incrementAndGet();
                if (value <= last[key]) {
                    report.lost.incrementAndGet();
                }
                last[key] = value;
            } catch (RuntimeException failed) {
                report.calm.set(0);
                report.errors.merge(failed.getClass().getSimpleName(), 1, Integer::sum);
            }
        }
    }

    private static void assertGoesOn(String client, ProcessCluster cluster, Increment increment) throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        Report report = new Report();
        Thread counting = Thread.ofPlatform().start(() -> count(increment, done, report));
        try {
            awaitCalm(report);
            int victim = cluster.owner("counter0");
            cluster.member(victim).kill();
            await().atMost(WAIT).until(() -> cluster.owner("counter0") != victim);
            awaitCalm(report);
            System.out.println("ClusterFailoverClientsIT: " + client + " through a fail-over: " + report);
            cluster.member(victim).restart();
            cluster.awaitServing();
            awaitCalm(report);
            int errors = report.errorCount();
            int lost = report.lost.get();
            moveAll(cluster);
            awaitCalm(report);
            System.out.println("ClusterFailoverClientsIT: " + client + " while its slots have moved: " + report);
            assertThat(report.errorCount()).as("errors while slots move").isEqualTo(errors);
            assertThat(report.lost.get()).as("increments that a migration has lost").isEqualTo(lost);
        } finally {
            done.set(true);
            counting.join();
        }
    }

    private static void awaitCalm(Report report) {
        report.calm.set(0);
        await().atMost(WAIT).until(() -> report.calm.get() >= CALM_INCREMENTS);
    }

    /** Moves the slots of all counters to the other primary. */
    private static void moveAll(ProcessCluster cluster) throws Exception {
        SlotMap map = cluster.map();
        Set<Integer> slots = IntStream.range(0, KEYS).mapToObj(i -> HashSlot.of("counter" + i))
                .collect(Collectors.toSet());
        for (int slot : slots) {
            Member owner = map.owner(slot);
            Member target = map.members().stream().filter(member -> member.isPrimary() && !member.equals(owner))
                    .findFirst().orElseThrow();
            cluster.change(new Command.BeginMigration(List.of(new SlotRange(slot, slot)), target.id()));
        }
        await().atMost(WAIT).until(() -> cluster.map().migrations().isEmpty());
    }

    @Test
    void lettuce() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 2, 1);
                RedisClusterClient client = RedisClusterClient
                        .create(RedisURI.builder().withHost("127.0.0.1").withPort(cluster.member(0).port())
                                .withTimeout(Duration.ofSeconds(2)).build())) {
            client.setOptions(ClusterClientOptions.builder().maxRedirects(10)
                    .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                    .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                            .enablePeriodicRefresh(Duration.ofSeconds(1)).build())
                    .build());
            try (StatefulRedisClusterConnection<String, String> connection = client.connect()) {
                assertGoesOn("Lettuce", cluster, connection.sync()::incr);
            }
        }
    }

    @Test
    void jedis() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 2, 1);
                redis.clients.jedis.RedisClusterClient client = redis.clients.jedis.RedisClusterClient.builder()
                        .nodes(Set.of(new HostAndPort("127.0.0.1", cluster.member(0).port()))).build()) {
            assertGoesOn("Jedis", cluster, client::incr);
        }
    }
}
