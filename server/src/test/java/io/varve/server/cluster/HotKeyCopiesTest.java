package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotRange;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests copies of hot keys at other members. Readers run on threads of their own. */
@Timeout(300)
class HotKeyCopiesTest {
    private static final Duration WITHIN = Duration.ofSeconds(60);
    /** Its slot is the first member's. */
    private static final String KEY = "{b}hot";
    private static final int SLOT = HashSlot.of("b".getBytes(UTF_8));
    private static final int OWNER = 0;
    /** Its slot is the second member's, of two. */
    private static final String OWN_TAG = "a";
    private static final int OWN_SLOT = HashSlot.of(OWN_TAG.getBytes(UTF_8));

    /** Watches the log for errors and leaks. */
    @RegisterExtension
    static final ServerExtension log = ServerExtension.withoutServer();

    @TempDir
    Path folder;

    private volatile boolean stopped;

    private ControlledCluster start(int primaries) throws IOException {
        return ControlledCluster.start(folder, primaries, 0, "shards 4");
    }

    private static RawClient reader(ControlledCluster cluster, int member) throws IOException {
        RawClient client = new RawClient(cluster.port(member));
        client.call("READONLY");
        return client;
    }

    private static void awaitReply(RawClient client, String expected, String... command) {
        await().atMost(WITHIN).until(() -> client.call(command).text().equals(expected));
    }

    private static String moved(ControlledCluster cluster, int member) {
        return "MOVED " + SLOT + " 127.0.0.1:" + cluster.port(member);
    }

    @Test
    void readsOfReadonlyClients_areServedFromCopies_whichFollowTheOwner() throws IOException {
        try (ControlledCluster cluster = start(3);
                RawClient owner = new RawClient(cluster.port(OWNER));
                RawClient first = reader(cluster, 1);
                RawClient second = reader(cluster, 2)) {
            owner.call("SET", KEY, "one");
            assertThat(owner.call("VARVE.REPLICATE", KEY).elements()).isEmpty();
            assertThat(owner.call("VARVE.REPLICATE", KEY, "5").integer()).isEqualTo(2);
            awaitReply(first, "one", "GET", KEY);
            awaitReply(second, "one", "GET", KEY);
            // On a slow machine, a lease may end at any time.
            await().atMost(WITHIN).until(() -> owner.call("VARVE.REPLICATE", KEY).elements().size() == 2);
            await().atMost(WITHIN).untilAsserted(() -> {
                RawReply copies = owner.call("VARVE.COPIES").elements().getFirst();
                assertThat(copies.elements().getFirst().text()).isEqualTo(KEY);
                assertThat(copies.elements().get(1).elements().stream().map(RawReply::text)).containsExactlyInAnyOrder(
                        "127.0.0.1:" + cluster.port(1), "127.0.0.1:" + cluster.port(2));
            });

            owner.call("SET", KEY, "two");
            awaitReply(first, "two", "GET", KEY);
            owner.call("APPEND", KEY, "!");
            awaitReply(first, "4", "STRLEN", KEY);
            owner.call("PEXPIRE", KEY, "1000000");
            await().atMost(WITHIN).until(() -> first.call("PTTL", KEY).integer() > 0);
            await().atMost(WITHIN).untilAsserted(() -> {
                first.call("MULTI");
                first.call("GET", KEY);
                RawReply executed = first.call("EXEC");
                assertThat(executed.elements()).as(executed.text()).hasSize(1);
                assertThat(executed.elements().getFirst().text()).isEqualTo("two!");
            });

            assertThat(first.call("SET", KEY, "no").text()).isEqualTo(moved(cluster, OWNER));
            assertThat(first.call("MGET", KEY, "{b}other").text()).isEqualTo(moved(cluster, OWNER));
            assertThat(cluster.call(1, "GET", KEY).text()).isEqualTo(moved(cluster, OWNER));
            assertThat(owner.call("CLUSTER", "INFO").text()).contains("cluster_replicated_keys:1\r\n");
            await().atMost(WITHIN)
                    .until(() -> first.call("CLUSTER", "INFO").text().contains("cluster_copies_held:1\r\n"));

            owner.call("DEL", KEY);
            awaitReply(first, moved(cluster, OWNER), "GET", KEY);
            owner.call("RPUSH", KEY, "a", "b");
            awaitReply(first, "2", "LLEN", KEY);
            owner.call("FLUSHALL");
            awaitReply(first, moved(cluster, OWNER), "LLEN", KEY);
            owner.call("SET", KEY, "three");
            awaitReply(second, "three", "GET", KEY);

            assertThat(owner.call("VARVE.REPLICATE", KEY, "0").integer()).isZero();
            awaitReply(first, moved(cluster, OWNER), "GET", KEY);
            await().atMost(WITHIN).until(() -> cluster.keys(1) == 0 && cluster.keys(2) == 0);
        }
    }

    @Test
    void copyOfASlotThatNobodyOwns_isDeleted() throws IOException {
        try (ControlledCluster cluster = start(2);
                RawClient owner = new RawClient(cluster.port(OWNER));
                RawClient holder = reader(cluster, 1)) {
            owner.call("SET", KEY, "old");
            owner.call("VARVE.REPLICATE", KEY, "1");
            awaitReply(holder, "old", "GET", KEY);
            // It cannot have the copy deleted any more.
            cluster.stop(OWNER);
            cluster.assign(new SlotRange(SLOT, SLOT), -1);
            await().atMost(WITHIN).until(() -> cluster.keys(1) == 0);
            // Else the holder would serve the copy as its own key from now on.
            cluster.assign(new SlotRange(SLOT, SLOT), 1);
            assertThat(holder.call("EXISTS", KEY).integer()).isZero();
        }
    }

    @Test
    void copiesEnd_whenTheirOwnerIsSilent_andComeBack() throws IOException {
        try (ControlledCluster cluster = start(2);
                RawClient owner = new RawClient(cluster.port(OWNER));
                RawClient holder = reader(cluster, 1)) {
            owner.call("SET", KEY, "one");
            owner.call("VARVE.REPLICATE", KEY, "1");
            awaitReply(holder, "one", "GET", KEY);
            // Another member may be the owner by now.
            cluster.lease(OWNER, false);
            awaitReply(holder, moved(cluster, OWNER), "GET", KEY);
            await().atMost(WITHIN).until(() -> cluster.keys(1) == 0);
            cluster.lease(OWNER, true);
            awaitReply(holder, "one", "GET", KEY);
            cluster.stop(OWNER);
            awaitReply(holder, moved(cluster, OWNER), "GET", KEY);
            await().atMost(WITHIN).until(() -> cluster.keys(1) == 0);
        }
    }

    @Test
    void aHolderThatStops_orLosesTheCopy_isNotMissed() throws IOException {
        try (ControlledCluster cluster = start(3);
                RawClient owner = new RawClient(cluster.port(OWNER));
                RawClient first = reader(cluster, 1);
                RawClient second = reader(cluster, 2)) {
            owner.call("SET", KEY, "one");
            owner.call("VARVE.REPLICATE", KEY, "2");
            awaitReply(first, "one", "GET", KEY);
            awaitReply(second, "one", "GET", KEY);
            first.call("FLUSHALL");
            awaitReply(first, "one", "GET", KEY);
            cluster.stop(1);
            owner.call("SET", KEY, "two");
            awaitReply(second, "two", "GET", KEY);
            await().atMost(WITHIN).until(() -> owner.call("VARVE.REPLICATE", KEY).elements().size() == 1);
            cluster.restart(1);
            try (RawClient again = reader(cluster, 1)) {
                awaitReply(again, "two", "GET", KEY);
            }
        }
    }

    /** The receiver holds a copy, and another member that has one must not serve it for the old owner. */
    @Test
    void aSlotThatMoves_leavesNoCopyBehind() throws IOException {
        try (ControlledCluster cluster = start(3);
                RawClient owner = new RawClient(cluster.port(OWNER));
                RawClient receiver = reader(cluster, 1);
                RawClient third = reader(cluster, 2)) {
            owner.call("SET", KEY, "one");
            owner.call("VARVE.REPLICATE", KEY, "2");
            awaitReply(receiver, "one", "GET", KEY);
            awaitReply(third, "one", "GET", KEY);
            cluster.beginMigration(new SlotRange(SLOT, SLOT), 1);
            await().atMost(WITHIN).until(() -> cluster.owner(SLOT) == 1);
            awaitReply(receiver, "OK", "SET", KEY, "two");
            assertThat(third.call("GET", KEY).text()).isEqualTo(moved(cluster, 1));
            await().atMost(WITHIN).until(() -> cluster.keys(OWNER) == 0 && cluster.keys(2) == 0
                    && cluster.state(1).copies().count() == 0);
            assertThat(receiver.call("GET", KEY).text()).isEqualTo("two");
            assertThat(owner.call("VARVE.COPIES").elements()).isEmpty();
            assertThat(receiver.call("VARVE.REPLICATE", KEY, "2").integer()).isEqualTo(2);
            awaitReply(third, "two", "GET", KEY);
            try (RawClient former = reader(cluster, OWNER)) {
                awaitReply(former, "two", "GET", KEY);
            }
        }
    }

    @Test
    void copiesOfOtherConnections_orFromOthersThanTheOwner_areRefused() throws IOException {
        try (ControlledCluster cluster = start(2);
                RawClient holder = new RawClient(cluster.port(1));
                RawClient owner = new RawClient(cluster.port(OWNER))) {
            String refused = "ERR This member takes no copy of the key on this connection";
            assertThat(holder.call("VARVE.COPY", KEY, cluster.id(OWNER), "0", "payload").text()).isEqualTo(refused);
            assertThat(holder.call("VARVE.COPYLEASE", cluster.id(OWNER), "1").text())
                    .isEqualTo("ERR Another connection sends the copies of this owner");
            assertThat(holder.call("VARVE.COPYLEASE", "nobody").text()).isEqualTo("ERR I don't know about node nobody");
            assertThat(holder.call("VARVE.COPYLEASE", cluster.id(OWNER)).elements()).hasSize(1);
            assertThat(holder.call("VARVE.COPY", KEY, cluster.id(OWNER), "0", "payload").text())
                    .isEqualTo("ERR Bad data format");
            assertThat(holder.call("VARVE.COPY", KEY, cluster.id(1), "0", "payload").text()).isEqualTo(refused);
            assertThat(holder.call("VARVE.UNCOPY", KEY, cluster.id(OWNER)).text()).isEqualTo("OK");
            assertThat(owner.call("VARVE.COPY", KEY, cluster.id(OWNER), "0", "payload").text()).isEqualTo(refused);
            assertThat(holder.call("VARVE.REPLICATE", KEY, "1").text()).isEqualTo(moved(cluster, OWNER));
            assertThat(owner.call("VARVE.REPLICATE", KEY, "-1").isError()).isTrue();
            for (int i = 0; i < 1024; i++) {
                owner.call("VARVE.REPLICATE", "{b}" + i, "1");
            }
            assertThat(owner.call("VARVE.REPLICATE", KEY, "1").text())
                    .isEqualTo("ERR this member has 1024 keys with copies already");
        }
    }

    /** Stores values of the holder's own until it takes no more. */
    private static void fill(RawClient holder) throws IOException {
        String tag = "{" + OWN_TAG + "}";
        for (int bytes : new int[] {1_000_000, 10_000, 1}) {
            int i = 0;
            while (isStored(holder.call("SETRANGE", tag + bytes + ":" + i, Integer.toString(bytes), "x"))) {
                i++;
            }
        }
    }

    private static boolean isStored(RawReply reply) {
        if (reply.text().startsWith("OOM")) {
            return false;
        }
        assertThat(reply.isInteger()).as(reply.toString()).isTrue();
        return true;
    }

    @Test
    void aFullHolder_stillDeletesACopy() throws IOException {
        try (ControlledCluster cluster = ControlledCluster.start(folder, 2, 0, "shards 4",
                "maxmemory-policy noeviction");
                RawClient holder = new RawClient(cluster.port(1));
                RawClient owner = new RawClient(cluster.port(OWNER))) {
            owner.call("SET", KEY, "one");
            // Here the test is the owner's connection.
            String stamp = holder.call("VARVE.COPYLEASE", cluster.id(OWNER)).elements().getFirst().text();
            String payload = owner.call("DUMP", KEY).text();
            assertThat(holder.call("VARVE.COPY", KEY, cluster.id(OWNER), "0", payload).text()).isEqualTo("OK");
            fill(holder);
            long keys = cluster.keys(1);
            assertThat(holder.call("VARVE.COPYLEASE", cluster.id(OWNER), stamp).isError()).isFalse();
            assertThat(holder.call("VARVE.COPY", "{b}other", cluster.id(OWNER), "0", payload).text())
                    .startsWith("OOM");
            assertThat(holder.call("VARVE.UNCOPY", KEY, cluster.id(OWNER)).text()).isEqualTo("OK");
            assertThat(cluster.state(1).copies().count()).isZero();
            assertThat(cluster.keys(1)).isLessThanOrEqualTo(keys).isEqualTo(keysOf(holder));
        }
    }

    /** The number of the holder's own keys. */
    private static long keysOf(RawClient holder) throws IOException {
        return holder.call("CLUSTER", "COUNTKEYSINSLOT", Integer.toString(OWN_SLOT)).integer();
    }

    @Test
    void aHolderThatIsFull_servesNoOldValue_andTheNewOneOnceItHasMemory() throws IOException {
        try (ControlledCluster cluster = ControlledCluster.start(folder, 2, 0, "shards 4",
                "maxmemory-policy noeviction");
                RawClient owner = new RawClient(cluster.port(OWNER));
                RawClient holder = reader(cluster, 1)) {
            owner.call("SET", KEY, "old");
            owner.call("VARVE.REPLICATE", KEY, "1");
            awaitReply(holder, "old", "GET", KEY);
            fill(holder);
            owner.call("SETRANGE", KEY, "10000000", "new");
            awaitReply(holder, moved(cluster, OWNER), "STRLEN", KEY);
            // The owner goes on with its other keys, and asks again with each renewal.
            owner.call("SET", "{b}small", "1");
            assertThat(holder.call("STRLEN", KEY).text()).isEqualTo(moved(cluster, OWNER));
            holder.call("FLUSHALL");
            awaitReply(holder, "10000003", "STRLEN", KEY);
        }
    }

    @Test
    void valuesAtAHolder_neverGoBack_andEndAtTheNewest() throws Exception {
        try (ControlledCluster cluster = start(3);
                RawClient owner = new RawClient(cluster.port(OWNER));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            owner.call("SET", KEY, "0");
            owner.call("VARVE.REPLICATE", KEY, "2");
            List<Future<Long>> readers = new ArrayList<>();
            for (int member = 1; member <= 2; member++) {
                int holder = member;
                readers.add(threads.submit(() -> read(cluster, holder)));
            }
            await().atMost(WITHIN).until(() -> owner.call("VARVE.REPLICATE", KEY).elements().size() == 2);
            long increments = TestBudget.of("HotKeyCopiesTest", 5_000, 200_000);
            for (long i = 0; i < increments; i++) {
                owner.call("INCR", KEY);
            }
            try (RawClient first = reader(cluster, 1); RawClient second = reader(cluster, 2)) {
                awaitReply(first, Long.toString(increments), "GET", KEY);
                awaitReply(second, Long.toString(increments), "GET", KEY);
            }
            stopped = true;
            for (Future<Long> reader : readers) {
                assertThat(reader.get()).isPositive();
            }
        } finally {
            stopped = true;
        }
    }

    /** @return the number of values that it has seen */
    private long read(ControlledCluster cluster, int holder) throws IOException {
        long last = 0;
        long values = 0;
        try (RawClient client = reader(cluster, holder)) {
            while (!stopped) {
                RawReply reply = client.call("GET", KEY);
                if (reply.isError()) {
                    assertThat(reply.text()).isEqualTo(moved(cluster, OWNER));
                    continue;
                }
                long value = Long.parseLong(reply.text());
                assertThat(value).isGreaterThanOrEqualTo(last);
                last = value;
                values++;
            }
        }
        return values;
    }
}
