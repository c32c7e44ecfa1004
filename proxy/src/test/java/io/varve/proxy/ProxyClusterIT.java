package io.varve.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.cluster.map.HashSlot;
import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.testing.RedisMember;
import io.varve.proxy.testing.TestProxy;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the proxy over a real Redis Cluster of three primaries. Confined to the test's thread and its clients. */
class ProxyClusterIT {
    private static final String KEY = "{moving}";
    private static final String SLOT = Integer.toString(HashSlot.of("moving"));
    private static final int COUNTERS = 20;

    private static TestProxy proxy;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        proxy = TestProxy.overCluster(3);
    }

    @AfterAll
    static void stop() {
        proxy.close();
    }

    @BeforeEach
    void empty() throws IOException {
        proxy.call("FLUSHALL");
    }

    @Test
    void commandsOfAllKinds_work() {
        try (Jedis jedis = new Jedis("127.0.0.1", proxy.port(), 20_000)) {
            for (int i = 0; i < 100; i++) {
                jedis.set("key" + i, Integer.toString(i));
            }
            assertThat(jedis.dbSize()).isEqualTo(100);
            assertThat(jedis.mget("key1", "none", "key2", "key3")).containsExactly("1", null, "2", "3");
            assertThat(jedis.del("key1", "key2", "none", "key3")).isEqualTo(3);
            assertThat(jedis.keys("key*")).hasSize(97);
            jedis.mset("a", "1", "b", "2", "c", "3");
            assertThat(jedis.mget("c", "b", "a")).containsExactly("3", "2", "1");
        }
    }

    @Test
    void messages_reachSubscribersWhateverTheSlot() throws IOException {
        try (BlockingConnection listener = proxy.connect()) {
            listener.call("SUBSCRIBE", "one");
            listener.call("PSUBSCRIBE", "t*");
            proxy.call("PUBLISH", "one", "1");
            assertThat(listener.read().elements().get(2).text()).isEqualTo("1");
            for (String channel : List.of("two", "three", "ten")) {
                proxy.call("PUBLISH", channel, "m");
                assertThat(listener.read().elements().get(2).text()).isEqualTo(channel);
            }
        }
    }

    @Test
    void aSlotThatMoves_losesNoWriteAndCausesNoError() throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicLong increments = new AtomicLong();
        List<String> errors = new ArrayList<>();
        for (int i = 0; i < COUNTERS; i++) {
            proxy.call("SET", KEY + i, "0");
        }
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            clients.add(Thread.ofPlatform().start(() -> increment(isOver, increments, errors)));
        }
        await().atMost(20, TimeUnit.SECONDS).until(() -> increments.get() > 200);
        moveSlot();
        long moved = increments.get();
        await().atMost(20, TimeUnit.SECONDS).until(() -> increments.get() > moved + 200);
        isOver.set(true);
        for (Thread client : clients) {
            client.join(TimeUnit.SECONDS.toMillis(20));
        }
        long sum = 0;
        for (int i = 0; i < COUNTERS; i++) {
            sum += Long.parseLong(proxy.call("GET", KEY + i).textOrEmpty());
        }
        assertThat(errors).isEmpty();
        assertThat(sum).isEqualTo(increments.get());
        assertThat(proxy.info("redirected_ask") + proxy.info("redirected_moved")).isPositive();
        // The map follows, so that redirections end.
        await().atMost(20, TimeUnit.SECONDS).until(() -> {
            long before = proxy.info("redirected_moved");
            proxy.call("GET", KEY + 0);
            return proxy.info("redirected_moved") == before;
        });
    }

    private void increment(AtomicBoolean isOver, AtomicLong increments, List<String> errors) {
        try (BlockingConnection client = proxy.connect()) {
            for (int i = 0; !isOver.get(); i++) {
                Reply reply = client.call("INCR", KEY + i % COUNTERS);
                if (reply.isError()) {
                    synchronized (errors) {
                        errors.add(reply.textOrEmpty());
                    }
                    return;
                }
                increments.incrementAndGet();
            }
        } catch (IOException failed) {
            synchronized (errors) {
                errors.add(failed.toString());
            }
        }
    }

    /** Moves the slot key by key, as redis-cli does. */
    private void moveSlot() throws IOException {
        RedisMember from = owner();
        RedisMember to = proxy.members().get((proxy.members().indexOf(from) + 1) % proxy.members().size());
        String fromId = from.call("CLUSTER", "MYID").textOrEmpty();
        String toId = to.call("CLUSTER", "MYID").textOrEmpty();
        assertThat(to.call("CLUSTER", "SETSLOT", SLOT, "IMPORTING", fromId).text()).isEqualTo("OK");
        assertThat(from.call("CLUSTER", "SETSLOT", SLOT, "MIGRATING", toId).text()).isEqualTo("OK");
        List<Reply> keys;
        do {
            keys = from.call("CLUSTER", "GETKEYSINSLOT", SLOT, "3").elements();
            for (Reply key : keys) {
                assertThat(from.call("MIGRATE", "127.0.0.1", Integer.toString(to.port()), key.textOrEmpty(), "0",
                        "5000").isError()).isFalse();
            }
        } while (!keys.isEmpty());
        for (RedisMember member : List.of(to, from)) {
            assertThat(member.call("CLUSTER", "SETSLOT", SLOT, "NODE", toId).text()).isEqualTo("OK");
        }
    }

    private RedisMember owner() throws IOException {
        for (RedisMember member : proxy.members()) {
            if (!member.call("GET", KEY + 0).isError()) {
                return member;
            }
        }
        throw new AssertionError("no member has slot " + SLOT);
    }

    @Test
    void aLostPrimaryWithoutReplica_refusesItsSlotsOnly() throws Exception {
        int refused = 0;
        int served = 0;
        try (TestProxy failing = TestProxy.overCluster(3); BlockingConnection client = failing.connect()) {
            for (int i = 0; i < 50; i++) {
                assertThat(client.call("SET", "key" + i, "v").text()).isEqualTo("OK");
            }
            failing.members().getFirst().kill();
            for (int i = 0; i < 50; i++) {
                client.send("GET", "key" + i);
            }
            for (int i = 0; i < 50; i++) {
                Reply reply = client.read();
                if (reply.isError()) {
                    assertThat(reply.text()).startsWith("CLUSTERDOWN");
                    refused++;
                } else {
                    assertThat(reply.text()).isEqualTo("v");
                    served++;
                }
            }
        }
        assertThat(refused).isPositive();
        assertThat(served).isPositive();
    }
}
