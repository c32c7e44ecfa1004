package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotMap;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Cluster clients read and write while the slots of their keys move from member to member. Confined to the test's
 * thread, except for the clients.
 */
class ClusterClientsIT {
    private static final int KEYS = 40;
    private static final int MOVES = 30;

    @TempDir
    Path folder;

    /** The commands of a client. */
    private interface Commands {
        long increment(String key);

        String get(String key);

        List<String> getBoth(String first, String second);
    }

    private static String key(int number) {
        return "counter" + number;
    }

    /** Moves the slot of a key to the next member, as a controller would. */
    private static void move(Members members, int slot) throws IOException {
        SlotMap now = members.installed();
        String owner = Objects.requireNonNull(now.owner(slot)).id();
        int from = 0;
        while (!members.id(from).equals(owner)) {
            from++;
        }
        int to = (from + 1) % members.count();
        SlotMap moving = now.toBuilder().target(slot, members.id(to)).build(now.epoch() + 1);
        members.state(to).install(moving, true);
        members.install(moving, true);
        try (RawClient source = new RawClient(members.port(from))) {
            List<RawReply> keys = source.call("CLUSTER", "GETKEYSINSLOT", Integer.toString(slot), "10").elements();
            while (!keys.isEmpty()) {
                for (RawReply key : keys) {
                    assertThat(source.call("MIGRATE", Members.HOST, Integer.toString(members.port(to)), key.text(), "0",
                            "5000").text()).isIn("OK", "NOKEY");
                }
                keys = source.call("CLUSTER", "GETKEYSINSLOT", Integer.toString(slot), "10").elements();
            }
        }
        SlotMap moved = moving.toBuilder().owner(slot, members.id(to)).build(now.epoch() + 2);
        members.state(to).install(moved, true);
        members.install(moved, true);
    }

    /** Increments all counters, round by round, while their slots move: no step fails or is lost. */
    private static void assertNothingIsLost(Members members, Commands commands) throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        long[] rounds = {0};
        Thread client = Thread.ofPlatform().start(() -> {
            try {
                while (!done.get()) {
                    rounds[0]++;
                    for (int i = 0; i < KEYS; i++) {
                        assertThat(commands.increment(key(i))).isEqualTo(rounds[0]);
                        assertThat(commands.get(key(i))).isEqualTo(Long.toString(rounds[0]));
                    }
                    assertThat(commands.getBoth(key(0), key(0)))
                            .containsExactly(Long.toString(rounds[0]), Long.toString(rounds[0]));
                }
            } catch (Throwable failed) {
                failure.set(failed);
            }
        });
        for (int i = 0; i < MOVES && failure.get() == null; i++) {
            move(members, HashSlot.of(key(i % KEYS)));
        }
        done.set(true);
        client.join();
        assertThat(failure.get()).isNull();
        assertThat(rounds[0]).isPositive();
        long keys = 0;
        for (int i = 0; i < members.count(); i++) {
            keys += members.call(i, "DBSIZE").integer();
        }
        assertThat(keys).isEqualTo(KEYS);
    }

    @Test
    void lettuce() throws Exception {
        try (Members members = Members.ofVarve(folder, 3, 0);
                RedisClusterClient client = RedisClusterClient
                        .create(RedisURI.create(Members.HOST, members.port(0)))) {
            client.setOptions(ClusterClientOptions.builder().maxRedirects(10).build());
            try (StatefulRedisClusterConnection<String, String> connection = client.connect()) {
                assertThat(client.getPartitions()).hasSize(3);
                assertNothingIsLost(members, new Commands() {
                    @Override
                    public long increment(String key) {
                        return connection.sync().incr(key);
                    }

                    @Override
                    public String get(String key) {
                        return connection.sync().get(key);
                    }

                    @Override
                    public List<String> getBoth(String first, String second) {
                        List<String> values = new ArrayList<>();
                        connection.sync().mget(first, second).forEach(value -> values.add(value.getValueOrElse("")));
                        return values;
                    }
                });
            }
        }
    }

    @Test
    void jedis() throws Exception {
        try (Members members = Members.ofVarve(folder, 3, 0);
                redis.clients.jedis.RedisClusterClient client = redis.clients.jedis.RedisClusterClient.builder()
                        .nodes(java.util.Set.of(new HostAndPort(Members.HOST, members.port(1)))).maxAttempts(10)
                        .build()) {
            assertNothingIsLost(members, new Commands() {
                @Override
                public long increment(String key) {
                    return client.incr(key);
                }

                @Override
                public String get(String key) {
                    return client.get(key);
                }

                @Override
                public List<String> getBoth(String first, String second) {
                    return client.mget(first, second);
                }
            });
        }
    }

    /** A subscriber of a shard channel is told that the channel has moved, and subscribes again at its new owner. */
    @Test
    void aShardChannelFollowsItsSlot() throws Exception {
        try (Members members = Members.ofVarve(folder, 3, 0); RawClient old = new RawClient(members.port(0))) {
            int slot = HashSlot.of("b");
            assertThat(old.call("SSUBSCRIBE", "b").elements().getFirst().text()).isEqualTo("ssubscribe");
            move(members, slot);
            assertThat(old.read().toString()).isEqualTo("*[$\"sunsubscribe\", $\"b\", :\"0\"]");
            try (RawClient fresh = new RawClient(members.port(1));
                    RawClient publisher = new RawClient(
                            members.port(1))) {
                assertThat(fresh.call("SSUBSCRIBE", "b").elements().getFirst().text()).isEqualTo("ssubscribe");
                await().until(() -> publisher.call("SPUBLISH", "b", "hello").integer() == 1);
                assertThat(fresh.read().elements().getLast().text()).isEqualTo("hello");
            }
        }
    }
}
