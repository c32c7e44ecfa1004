package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotRange;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests the migration of slots between members with controllers, which the test plays. Confined to the test's thread.
 */
class SlotMigrationTest {
    private static final Duration WITHIN = Duration.ofSeconds(60);
    /** Of the first member. */
    private static final String TAG = "{b}";
    private static final int SLOT = HashSlot.of("b".getBytes(UTF_8));
    private static final SlotRange SLOT_ONLY = new SlotRange(SLOT, SLOT);

    /** Watches the log for errors and leaks. */
    @RegisterExtension
    static final ServerExtension log = ServerExtension.withoutServer();

    @TempDir
    Path folder;

    private ControlledCluster start(String... settings) throws IOException {
        return ControlledCluster.start(folder, 2, 0, settings);
    }

    private static void awaitOwner(ControlledCluster cluster, int slot, int owner) {
        await().atMost(WITHIN).until(() -> cluster.owner(slot) == owner && !cluster.state(1 - owner).holds().isAny());
    }

    private static void write(ControlledCluster cluster, int member, String... commands) throws IOException {
        try (RawClient client = new RawClient(cluster.port(member))) {
            for (String command : commands) {
                RawReply reply = client.call(command.split(" "));
                assertThat(reply.isError()).as(command + ": " + reply).isFalse();
            }
        }
    }

    /** All keys of a slot with their types, values and expiry times. */
    private static Map<String, String> contents(ControlledCluster cluster, int member, int slot) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (RawClient client = new RawClient(cluster.port(member))) {
            for (RawReply key : client.call("CLUSTER", "GETKEYSINSLOT", Integer.toString(slot), "100000").elements()) {
                contents.put(key.text(), client.call("TYPE", key.text()).text() + ' '
                        + client.call("PEXPIRETIME", key.text()).integer() + ' '
                        + value(client, key.text()));
            }
        }
        return contents;
    }

    /** In an order that does not depend on the server. */
    private static String value(RawClient client, String key) throws IOException {
        List<String> parts = new ArrayList<>();
        switch (client.call("TYPE", key).text()) {
            case "list" -> client.call("LRANGE", key, "0", "-1").elements().forEach(part -> parts.add(part.text()));
            case "zset" -> client.call("ZRANGE", key, "0", "-1", "WITHSCORES").elements()
                    .forEach(part -> parts.add(part.text()));
            case "set" -> client.call("SMEMBERS", key).elements().forEach(part -> parts.add(part.text()));
            case "hash" -> {
                for (RawReply field : client.call("HKEYS", key).elements()) {
                    parts.add(field.text() + '=' + client.call("HGET", key, field.text()).text() + '@'
                            + client.call("HPEXPIRETIME", key, "FIELDS", "1", field.text()).elements());
                }
            }
            default -> parts.add(client.call("GET", key).text());
        }
        if (!client.call("TYPE", key).text().matches("list|zset")) {
            Collections.sort(parts);
        }
        return parts.toString();
    }

    @Test
    void valuesOfAllTypes_moveWithTheirTimes() throws IOException {
        try (ControlledCluster cluster = start("shards 4")) {
            write(cluster, 0, "SET {b}s text", "SET {b}n 12345", "SET {b}t x EX 1000", "PFADD {b}p a b c",
                    "RPUSH {b}l a b c", "SADD {b}i 1 2 300000", "SADD {b}S a b c", "ZADD {b}z 1 a 2.5 b -inf c",
                    "HSET {b}h f v g w", "HPEXPIRE {b}h 100000 FIELDS 1 f", "PEXPIRE {b}l 200000",
                    "SETBIT {b}B 1000 1", "GEOADD {b}g 13.4 52.5 berlin");
            StringBuilder large = new StringBuilder("RPUSH {b}L");
            StringBuilder hash = new StringBuilder("HSET {b}H");
            StringBuilder set = new StringBuilder("SADD {b}E");
            StringBuilder sorted = new StringBuilder("ZADD {b}Z");
            for (int i = 0; i < 1000; i++) {
                large.append(" element").append(i);
                hash.append(" field").append(i).append(" value").append(i);
                set.append(" member").append(i);
                sorted.append(' ').append(i).append(" member").append(i);
            }
            write(cluster, 0, large.toString(), hash.toString(), set.toString(), sorted.toString(),
                    "HPEXPIRE {b}H 100000 FIELDS 2 field1 field2", "EXPIRE {b}H 1000");
            Map<String, String> before = contents(cluster, 0, SLOT);
            assertThat(before).hasSize(15);
            cluster.beginMigration(SLOT_ONLY, 1);
            awaitOwner(cluster, SLOT, 1);
            assertThat(contents(cluster, 1, SLOT)).isEqualTo(before);
            assertThat(before.get("{b}h")).startsWith("hash -1 [f=v@[:\"1").endsWith("], g=w@[:\"-1\"]]");
            assertThat(cluster.call(0, "GET", "{b}s").text()).isEqualTo("MOVED " + SLOT + " 127.0.0.1:"
                    + cluster.port(1));
            await().atMost(WITHIN).until(() -> cluster.keys(0) == 0);
            assertThat(cluster.call(0, "CLUSTER", "INFO").text()).contains("cluster_migration_slots_moved:1\r\n")
                    .contains("cluster_migration_keys_deleted:15\r\n").contains("cluster_migration_failures:0\r\n");
        }
    }

    @Test
    void manySlots_moveInGroupsAndBack() throws IOException {
        try (ControlledCluster cluster = start("shards 16"); RawClient client = new RawClient(cluster.port(0))) {
            int mine = 0;
            for (int i = 0; i < 4000; i++) {
                mine += client.call("SET", "key" + i, "value" + i).isError() ? 0 : 1;
            }
            int keys = mine;
            SlotRange slots = new SlotRange(0, 2047);
            for (int target : List.of(1, 0)) {
                cluster.beginMigration(slots, target);
                await().atMost(WITHIN).until(() -> !cluster.hasMigrations());
                int source = 1 - target;
                await().atMost(WITHIN).until(() -> cluster.keys(0) + cluster.keys(1) == keys
                        && cluster.call(source, "CLUSTER", "INFO").text().contains("_migrating:0\r\n"));
            }
            System.out.println("SlotMigrationTest: " + cluster.holds(0));
            assertThat(cluster.keys(0)).isEqualTo(keys);
            for (int i = 0; i < 4000; i++) {
                RawReply reply = client.call("GET", "key" + i);
                assertThat(reply.isError() || reply.text().equals("value" + i)).as(reply.text()).isTrue();
            }
        }
    }

    /** Nothing is looked up at the receiver, which has a part of the keys. */
    @Test
    void whileASlotMoves_itsOwnerServesItWholly() throws IOException {
        try (ControlledCluster cluster = start("cluster-migration-max-bytes-per-second 1000");
                RawClient client = new RawClient(cluster.port(0))) {
            client.setKeys("{b}", 500, "value");
            cluster.beginMigration(SLOT_ONLY, 1);
            await().atMost(WITHIN).until(() -> cluster.keys(1) > 10);
            assertThat(client.call("GET", "{b}missing").isNull()).isTrue();
            assertThat(client.call("MGET", "{b}missing", "{b}1", "{b}2").elements()).hasSize(3);
            assertThat(client.call("MSET", "{b}new", "1", "{b}1", "2").text()).isEqualTo("OK");
            assertThat(client.call("MIGRATE", "127.0.0.1", Integer.toString(cluster.port(1)), "{b}1", "0", "1000")
                    .text()).isEqualTo("ERR The controllers move the keys of this hash slot");
            assertThat(cluster.call(1, "GET", "{b}1").text()).startsWith("MOVED " + SLOT);
            assertThat(client.call("CONFIG", "SET", "cluster-migration-max-bytes-per-second", "0").text())
                    .isEqualTo("OK");
            awaitOwner(cluster, SLOT, 1);
            assertThat(cluster.call(1, "GET", "{b}1").text()).isEqualTo("2");
            assertThat(cluster.call(1, "CLUSTER", "COUNTKEYSINSLOT", Integer.toString(SLOT)).integer())
                    .isEqualTo(501);
        }
    }

    @Test
    void changesWhileKeysAreCopied_arriveToo() throws IOException {
        try (ControlledCluster cluster = start("cluster-migration-max-bytes-per-second 20000");
                RawClient client = new RawClient(cluster.port(0))) {
            client.setKeys("{b}", 1000, "value");
            cluster.beginMigration(SLOT_ONLY, 1);
            await().atMost(WITHIN).until(() -> cluster.keys(1) > 100);
            for (int i = 0; i < 1000; i += 4) {
                client.call("DEL", "{b}" + i);
                client.call("SET", "{b}" + (i + 1), "changed");
                client.call("PEXPIREAT", "{b}" + (i + 2), "9999999999999");
                client.call("RPUSH", "{b}list", "element" + i);
            }
            Map<String, String> before = contents(cluster, 0, SLOT);
            assertThat(client.call("CONFIG", "SET", "cluster-migration-max-bytes-per-second", "0").text())
                    .isEqualTo("OK");
            awaitOwner(cluster, SLOT, 1);
            assertThat(contents(cluster, 1, SLOT)).isEqualTo(before).hasSize(751);
        }
    }

    private static List<String> pinned(ControlledCluster cluster, int member, String... keys) throws IOException {
        List<String> pinned = new ArrayList<>();
        try (RawClient client = new RawClient(cluster.port(member))) {
            for (String key : keys) {
                if (client.call("DEBUG", "OBJECT", key).text().contains(" pinned:1")) {
                    pinned.add(key);
                }
            }
        }
        return pinned;
    }

    /** Also beyond the receiver's bound: a rebalance must not end what an operator was promised. */
    @Test
    void pinsMoveWithTheirKeys() throws IOException {
        try (ControlledCluster cluster = start("enable-debug-command yes");
                RawClient client = new RawClient(cluster.port(0))) {
            assertThat(cluster.call(1, "CONFIG", "SET", "pin-max-bytes", "0").text()).isEqualTo("OK");
            client.setKeys("{b}", 1000, "value");
            assertThat(client.call("VARVE.PIN", "{b}1", "{b}2", "{b}3", "{b}4").integer()).isEqualTo(4);
            client.call("CONFIG", "SET", "cluster-migration-max-bytes-per-second", "20000");
            cluster.beginMigration(SLOT_ONLY, 1);
            await().atMost(WITHIN).until(() -> cluster.keys(1) > 10);
            // They were copied already, or will be.
            for (int i = 2; i < 1000; i++) {
                client.call("DEL", "{b}" + i);
                client.call("SET", "{b}" + i, "again");
            }
            client.call("RENAME", "{b}1", "{b}5");
            client.call("SET", "{b}1", "not pinned");
            assertThat(client.call("VARVE.PIN", "{b}6").text()).startsWith("TRYAGAIN ");
            assertThat(client.call("VARVE.UNPIN", "{b}5").text()).startsWith("TRYAGAIN ");
            client.call("CONFIG", "SET", "cluster-migration-max-bytes-per-second", "0");
            awaitOwner(cluster, SLOT, 1);
            assertThat(pinned(cluster, 1, "{b}1", "{b}2", "{b}3", "{b}4", "{b}5", "{b}6")).containsExactly("{b}5");
            assertThat(cluster.call(1, "VARVE.PIN", "{b}6").text()).startsWith("ERR pinned keys would take more");
            assertThat(cluster.call(1, "VARVE.UNPIN", "{b}5").integer()).isOne();
        }
    }

    @Test
    void keysThatExpireMeanwhile_areGone() throws IOException {
        try (ControlledCluster cluster = start("cluster-migration-max-bytes-per-second 20000");
                RawClient client = new RawClient(cluster.port(0))) {
            client.setKeys("{b}", 300, "value");
            for (int i = 0; i < 300; i += 2) {
                client.call("PEXPIRE", "{b}" + i, Integer.toString(i < 10 ? 1 : 100));
            }
            cluster.beginMigration(SLOT_ONLY, 1);
            awaitOwner(cluster, SLOT, 1);
            await().atMost(WITHIN).until(() -> cluster.keys(1) == 150);
            assertThat(cluster.call(1, "EXISTS", "{b}1", "{b}2", "{b}0").integer()).isOne();
        }
    }

    @Test
    void anAbortedMigration_leavesNothingAtTheReceiver() throws IOException {
        try (ControlledCluster cluster = start("cluster-migration-max-bytes-per-second 1000");
                RawClient client = new RawClient(cluster.port(0))) {
            client.setKeys("{b}", 500, "value");
            cluster.beginMigration(SLOT_ONLY, 1);
            await().atMost(WITHIN).until(() -> cluster.keys(1) > 10);
            cluster.abortMigration(SLOT_ONLY);
            await().atMost(WITHIN).until(() -> cluster.keys(1) == 0);
            assertThat(client.call("CLUSTER", "COUNTKEYSINSLOT", Integer.toString(SLOT)).integer()).isEqualTo(500);
            client.call("CONFIG", "SET", "cluster-migration-max-bytes-per-second", "0");
            cluster.beginMigration(SLOT_ONLY, 1);
            awaitOwner(cluster, SLOT, 1);
            await().atMost(WITHIN).until(() -> cluster.keys(0) == 0);
            assertThat(cluster.keys(1)).isEqualTo(500);
        }
    }

    @Test
    void aFlush_begins_theCopyAnew() throws IOException {
        try (ControlledCluster cluster = start("cluster-migration-max-bytes-per-second 1000");
                RawClient client = new RawClient(cluster.port(0))) {
            client.setKeys("{b}", 500, "value");
            cluster.beginMigration(SLOT_ONLY, 1);
            await().atMost(WITHIN).until(() -> cluster.keys(1) > 10);
            assertThat(client.call("FLUSHALL").text()).isEqualTo("OK");
            client.call("SET", "{b}after", "1");
            client.call("CONFIG", "SET", "cluster-migration-max-bytes-per-second", "0");
            awaitOwner(cluster, SLOT, 1);
            assertThat(contents(cluster, 1, SLOT)).hasSize(1).containsKey("{b}after");
        }
    }

    @Test
    void hugeCollections_moveWhileTheyChange() throws IOException {
        try (ControlledCluster cluster = start(); RawClient client = new RawClient(cluster.port(0))) {
            int batch = 1000;
            for (int i = 0; i < 200; i++) {
                List<String> command = new ArrayList<>(List.of("HSET", "{b}huge"));
                for (int j = 0; j < batch; j++) {
                    command.add("field" + (i * batch + j));
                    command.add("value");
                }
                client.call(command.toArray(String[]::new));
            }
            cluster.beginMigration(SLOT_ONLY, 1);
            long changes = 0;
            while (client.call("HINCRBY", "{b}huge", "count", "1").isInteger()) {
                changes++;
            }
            awaitOwner(cluster, SLOT, 1);
            assertThat(cluster.call(1, "HGET", "{b}huge", "count").text()).isEqualTo(Long.toString(changes));
            assertThat(cluster.call(1, "HLEN", "{b}huge").integer()).isEqualTo(200L * batch + 1);
        }
    }

    // --- the hold

    /** Lets the controllers answer only after the latch. */
    private static CountDownLatch hold(ControlledCluster cluster, boolean admits) {
        CountDownLatch answer = new CountDownLatch(1);
        cluster.gate(() -> {
            answer.await();
            return admits;
        });
        cluster.beginMigration(SLOT_ONLY, 1);
        await().atMost(WITHIN).until(() -> cluster.state(0).holds().isHeld(SLOT));
        return answer;
    }

    private static void awaitWaiting(ControlledCluster cluster, int count) {
        await().atMost(WITHIN).until(() -> cluster.state(0).holds().waitingCount() == count);
    }

    @Test
    void commandsOnAHeldSlot_waitAndAreRedirected() throws Exception {
        try (ControlledCluster cluster = start();
                ExecutorService threads = Executors.newFixedThreadPool(5);
                RawClient queued = new RawClient(cluster.port(0))) {
            write(cluster, 0, "SET {b}1 1", "SET c 1");
            queued.call("WATCH", "{b}1");
            queued.call("MULTI");
            queued.call("INCR", "{b}1");
            CountDownLatch answer = hold(cluster, true);
            List<Future<RawReply>> replies = new ArrayList<>();
            replies.add(threads.submit(() -> cluster.call(0, "GET", "{b}1")));
            replies.add(threads.submit(() -> cluster.call(0, "INCR", "{b}1")));
            replies.add(threads.submit(() -> cluster.call(0, "BLPOP", "{b}list", "0")));
            replies.add(threads.submit(() -> queued.call("EXEC")));
            Future<RawReply> flush = threads.submit(() -> cluster.call(0, "FLUSHALL"));
            awaitWaiting(cluster, 5);
            assertThat(cluster.call(0, "GET", "c").text()).isEqualTo("1");
            assertThat(replies).noneMatch(Future::isDone);
            answer.countDown();
            for (Future<RawReply> reply : replies) {
                assertThat(reply.get().text()).isEqualTo("MOVED " + SLOT + " 127.0.0.1:" + cluster.port(1));
            }
            assertThat(flush.get().text()).isEqualTo("OK");
            assertThat(cluster.call(1, "GET", "{b}1").text()).isEqualTo("1");
        }
    }

    @Test
    void afterARefusal_commandsRunAndTheMigrationBeginsAnew() throws Exception {
        try (ControlledCluster cluster = start();
                ExecutorService threads = Executors.newFixedThreadPool(5);
                RawClient queued = new RawClient(cluster.port(0))) {
            write(cluster, 0, "SET {b}1 1");
            queued.call("WATCH", "{b}1");
            queued.call("MULTI");
            queued.call("APPEND", "{b}1", "2");
            CountDownLatch answer = hold(cluster, false);
            Future<RawReply> exec = threads.submit(() -> queued.call("EXEC"));
            Future<RawReply> pop = threads.submit(() -> cluster.call(0, "BLPOP", "{b}list", "0"));
            awaitWaiting(cluster, 2);
            CountDownLatch second = new CountDownLatch(1);
            cluster.gate(() -> {
                second.await();
                return true;
            });
            answer.countDown();
            assertThat(exec.get().elements().getFirst().integer()).isEqualTo(2);
            // The next attempt holds the slot again.
            Future<RawReply> push = threads.submit(() -> {
                try (FollowingClient client = new FollowingClient(cluster.port(0))) {
                    return client.call("{b}list", "RPUSH", "{b}list", "element");
                }
            });
            second.countDown();
            assertThat(push.get().integer()).isOne();
            awaitOwner(cluster, SLOT, 1);
            // The push may have been before the next hold.
            assertThat(pop.get().isAggregate() || pop.get().text().startsWith("MOVED ")).isTrue();
            assertThat(cluster.call(1, "GET", "{b}1").text()).isEqualTo("12");
            assertThat(cluster.state(0).migrations().failures()).isPositive();
        }
    }

    /** Nobody can say then who owns the slot. */
    @Test
    void withoutALease_commandsThatWaitAreRefused() throws Exception {
        try (ControlledCluster cluster = start(); ExecutorService threads = Executors.newFixedThreadPool(2)) {
            write(cluster, 0, "SET {b}1 1");
            CountDownLatch answer = hold(cluster, true);
            Future<RawReply> get = threads.submit(() -> cluster.call(0, "GET", "{b}1"));
            awaitWaiting(cluster, 1);
            cluster.lease(0, false);
            assertThat(get.get().text()).isEqualTo("CLUSTERDOWN The cluster is down");
            assertThat(cluster.call(0, "SET", "{b}1", "2").text()).isEqualTo("CLUSTERDOWN The cluster is down");
            answer.countDown();
            awaitOwner(cluster, SLOT, 1);
            assertThat(cluster.call(1, "GET", "{b}1").text()).isEqualTo("1");
        }
    }

    @Test
    void aClientThatWaitsForAKey_isSentToTheNewOwner() throws Exception {
        try (ControlledCluster cluster = start(); ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<RawReply> pop = threads.submit(() -> cluster.call(0, "BLPOP", "{b}list", "0"));
            await().atMost(WITHIN).until(() -> cluster.call(0, "INFO", "clients").text().contains("blocked_clients:1"));
            cluster.beginMigration(SLOT_ONLY, 1);
            assertThat(pop.get().text()).startsWith("MOVED " + SLOT);
        }
    }

    @Test
    void deletionsOfMovedKeys_areEventsAndInvalidations() throws Exception {
        try (ControlledCluster cluster = start("notify-keyspace-events KEA");
                RawClient listener = new RawClient(cluster.port(0))) {
            write(cluster, 0, "SET {b}1 1");
            listener.call("SUBSCRIBE", "__keyevent@0__:del");
            CompletableFuture<RawReply> message = CompletableFuture.supplyAsync(() -> {
                try {
                    return listener.read();
                } catch (IOException failed) {
                    throw new IllegalStateException(failed);
                }
            });
            cluster.beginMigration(SLOT_ONLY, 1);
            assertThat(message.get().elements().getLast().text()).isEqualTo("{b}1");
        }
    }

    @Test
    void aReplicaOfTheReceiver_hasTheKeysAtTheEnd() throws IOException {
        try (ControlledCluster cluster = ControlledCluster.start(folder, 2, 1);
                RawClient client = new RawClient(cluster.port(0))) {
            await().atMost(WITHIN).until(() -> cluster.call(1, "INFO", "replication").text().contains("state=online"));
            client.setKeys("{b}", 500, "value");
            CountDownLatch answer = hold(cluster, true);
            assertThat(cluster.keys(2)).isEqualTo(500);
            answer.countDown();
            awaitOwner(cluster, SLOT, 1);
            cluster.beginMigration(SLOT_ONLY, 0);
            cluster.gate(() -> true);
            awaitOwner(cluster, SLOT, 0);
            await().atMost(WITHIN).until(() -> cluster.keys(1) == 0 && cluster.keys(2) == 0);
            assertThat(cluster.keys(0)).isEqualTo(500);
        }
    }
}
