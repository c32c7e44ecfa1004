package io.varve.server.concurrency;

import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Many clients on several event loops push and block concurrently: every element reaches one of them, once. Confined to
 * the test's thread, except the clients', which share concurrent structures.
 */
@Timeout(120)
class BlockingConcurrencyTest {
    private static final int PRODUCERS = 4;
    private static final int EACH = 2_000;
    private static final String END = "end";

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 3", "maxmemory 64mb", "shards 8");
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private List<Future<Void>> produce(String... keys) {
        List<Future<Void>> producers = new ArrayList<>();
        for (int p = 0; p < PRODUCERS; p++) {
            int producer = p;
            producers.add(threads.submit(() -> {
                try (RawClient client = new RawClient(server.port())) {
                    SplittableRandom random = new SplittableRandom(producer);
                    for (int i = 0; i < EACH;) {
                        // Now and then several at a time, and now and then several commands in one piece.
                        int commands = 1 + random.nextInt(3);
                        int sent = 0;
                        for (; sent < commands && i < EACH; sent++) {
                            String key = keys[random.nextInt(keys.length)];
                            if (random.nextInt(4) == 0 && i + 1 < EACH) {
                                client.queue(random.nextBoolean() ? "RPUSH" : "LPUSH", key, producer + ":" + i++,
                                        producer + ":" + i++);
                            } else {
                                client.queue("RPUSH", key, producer + ":" + i++);
                            }
                        }
                        client.flush();
                        for (int reply = 0; reply < sent; reply++) {
                            assertThat(client.read().isInteger()).isTrue();
                        }
                    }
                }
                return null;
            }));
        }
        return producers;
    }

    private static List<String> all() {
        return IntStream.range(0, PRODUCERS).boxed()
                .flatMap(producer -> IntStream.range(0, EACH).mapToObj(i -> producer + ":" + i)).sorted().toList();
    }

    private static void join(List<Future<Void>> futures) throws Exception {
        for (Future<Void> future : futures) {
            future.get();
        }
    }

    /** One way to wait for an element; each consumer sticks to one. */
    private static final String[][] WAYS = {{"BLPOP", "a", "b", "c", "0"}, {"BRPOP", "c", "a", "b", "0"},
            {"BLMPOP", "0", "3", "b", "c", "a", "LEFT", "COUNT", "3"}, {"BLPOP", "b", "c", "a", "0.003"}};

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 12})
    void everyElementComesToOneConsumerOnce(int consumers) throws Exception {
        ConcurrentLinkedQueue<String> taken = new ConcurrentLinkedQueue<>();
        List<Future<Void>> consuming = new ArrayList<>();
        for (int c = 0; c < consumers; c++) {
            String[] way = WAYS[c % WAYS.length];
            consuming.add(threads.submit(consumer(way, taken)));
        }
        join(produce("a", "b", "c"));
        try (RawClient client = new RawClient(server.port())) {
            await().atMost(60, TimeUnit.SECONDS).until(() -> taken.size() >= PRODUCERS * EACH);
            for (int c = 0; c < consumers; c++) {
                client.call("RPUSH", "a", END);
            }
            join(consuming);
            assertThat(taken.stream().sorted().toList()).isEqualTo(all());
            assertThat(client.call("DBSIZE").integer()).isZero();
            assertThat(client.info("total_blocking_keys")).isEqualTo("0");
        }
    }

    private Callable<Void> consumer(String[] way, ConcurrentLinkedQueue<String> taken) {
        return () -> {
            try (RawClient client = new RawClient(server.port())) {
                while (true) {
                    RawReply reply = client.call(way);
                    if (reply.isNull()) {
                        continue;
                    }
                    RawReply what = reply.elements().get(1);
                    List<String> elements = what.isAggregate()
                            ? what.elements().stream().map(RawReply::text).toList()
                            : List.of(what.text());
                    if (elements.contains(END)) {
                        // Several may have come at a time: they are the others'.
                        for (int i = 1; i < Collections.frequency(elements, END); i++) {
                            client.call("RPUSH", "a", END);
                        }
                        return null;
                    }
                    taken.addAll(elements);
                }
            }
        };
    }

    /** Sorted sets: each consumer blocks for a short time until it has everything. */
    @Test
    void everyMemberComesToOneConsumerOnce() throws Exception {
        String[][] ways = {{"BZPOPMIN", "a", "b", "0.05"}, {"BZPOPMAX", "b", "a", "0.05"},
                {"BZMPOP", "0.05", "2", "b", "a", "MIN", "COUNT", "3"}};
        ConcurrentLinkedQueue<String> taken = new ConcurrentLinkedQueue<>();
        List<Future<Void>> all = new ArrayList<>();
        for (int c = 0; c < 6; c++) {
            String[] way = ways[c % ways.length];
            all.add(threads.submit(() -> {
                try (RawClient client = new RawClient(server.port())) {
                    while (taken.size() < PRODUCERS * EACH) {
                        RawReply reply = client.call(way);
                        if (!reply.isNull()) {
                            RawReply what = reply.elements().get(1);
                            taken.addAll(what.isAggregate()
                                    ? what.elements().stream().map(pair -> pair.elements().getFirst().text()).toList()
                                    : List.of(what.text()));
                        }
                    }
                }
                return null;
            }));
        }
        for (int p = 0; p < PRODUCERS; p++) {
            int producer = p;
            all.add(threads.submit(() -> {
                try (RawClient client = new RawClient(server.port())) {
                    for (int i = 0; i < EACH; i++) {
                        client.queue("ZADD", i % 3 == 0 ? "a" : "b", Integer.toString(i * 31 % 97),
                                producer + ":" + i);
                        if (i % 5 == 0) {
                            client.flush();
                        }
                    }
                    client.flush();
                    for (int i = 0; i < EACH; i++) {
                        assertThat(client.read().integer()).isEqualTo(1);
                    }
                }
                return null;
            }));
        }
        join(all);
        assertThat(taken.stream().sorted().toList()).isEqualTo(all());
    }

    /** A single consumer sees the elements of each producer in the order in which they were pushed. */
    @Test
    void aSingleConsumerSeesEachProducersOrder() throws Exception {
        List<Future<Void>> producing = new ArrayList<>();
        for (int p = 0; p < PRODUCERS; p++) {
            int producer = p;
            producing.add(threads.submit(() -> {
                try (RawClient client = new RawClient(server.port())) {
                    for (int i = 0; i < EACH; i++) {
                        client.queue("RPUSH", "queue", producer + ":" + i);
                        if (i % 7 == 0) {
                            client.flush();
                        }
                    }
                    client.flush();
                    for (int i = 0; i < EACH; i++) {
                        assertThat(client.read().isInteger()).isTrue();
                    }
                }
                return null;
            }));
        }
        int[] next = new int[PRODUCERS];
        try (RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < PRODUCERS * EACH; i++) {
                String element = client.call("BLPOP", "queue", "0").elements().get(1).text();
                int colon = element.indexOf(':');
                int producer = Integer.parseInt(element.substring(0, colon));
                assertThat(Integer.parseInt(element.substring(colon + 1))).isEqualTo(next[producer]++);
            }
        }
        join(producing);
    }

    /** Through a chain of lists, by clients of which each waits for what another moves. */
    @Test
    void movedElementsArriveOnce() throws Exception {
        String[] stages = {"s0", "s1", "s2", "s3"};
        AtomicBoolean over = new AtomicBoolean();
        List<Future<Void>> moving = new ArrayList<>();
        for (int s = 0; s + 1 < stages.length; s++) {
            for (int c = 0; c < 2; c++) {
                String from = stages[s];
                String to = stages[s + 1];
                moving.add(threads.submit(() -> {
                    try (RawClient client = new RawClient(server.port())) {
                        while (!over.get()) {
                            client.call("BLMOVE", from, to, "LEFT", "RIGHT", "0.05");
                        }
                    }
                    return null;
                }));
            }
        }
        List<Future<Void>> producing = produce("s0");
        List<String> taken = new ArrayList<>();
        try (RawClient client = new RawClient(server.port())) {
            while (taken.size() < PRODUCERS * EACH) {
                taken.add(client.call("BLPOP", "s3", "0").elements().get(1).text());
            }
            join(producing);
            over.set(true);
            join(moving);
            assertThat(taken.stream().sorted().toList()).isEqualTo(all());
            assertThat(client.call("DBSIZE").integer()).isZero();
        }
    }

    private static String readToEnd(RawClient client) throws IOException {
        try {
            return client.readToEnd();
        } catch (SocketException reset) {
            // It was closed before it had read the request: nothing was taken.
            return "";
        }
    }

    /**
     * Clients connect, wait and disconnect, by themselves or killed: elements that were not replied to them are there
     * for others.
     */
    @Test
    void aDisconnectedClientTakesNoElement() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        ConcurrentLinkedQueue<String> taken = new ConcurrentLinkedQueue<>();
        List<Future<Void>> others = new ArrayList<>();
        for (int c = 0; c < 4; c++) {
            others.add(threads.submit(() -> {
                while (!over.get()) {
                    try (RawClient client = new RawClient(server.port());
                            RawClient killer = new RawClient(server.port())) {
                        String id = client.call("CLIENT", "ID").text();
                        client.queue("BLPOP", "none", "k", "0");
                        client.flush();
                        boolean unblocked = killer.call("CLIENT", "UNBLOCK", id).integer() == 1;
                        if (!unblocked) {
                            killer.call("CLIENT", "UNBLOCK", id);
                        }
                        killer.call("CLIENT", "KILL", "ID", id);
                        // Whatever was taken for it was sent to it before it was killed.
                        String left = readToEnd(client);
                        int element = left.lastIndexOf("$1\r\nk\r\n");
                        if (element >= 0) {
                            String text = left.substring(element + 7);
                            taken.add(text.substring(text.indexOf('\n') + 1).strip());
                        }
                    }
                }
                return null;
            }));
        }
        join(produce("k"));
        over.set(true);
        join(others);
        try (RawClient client = new RawClient(server.port())) {
            client.call("LRANGE", "k", "0", "-1").elements().forEach(element -> taken.add(element.text()));
            assertThat(taken.stream().sorted().toList()).isEqualTo(all());
            assertThat(client.infoLong("blocked_clients")).isZero();
            assertThat(client.info("total_blocking_keys")).isEqualTo("0");
        }
    }

    /**
     * The keys of a move are in different shards, which clients of all event loops use: nobody sees the element in the
     * source, or in none of both lists.
     */
    @Test
    void aMoveToAnotherShardIsOneWithThePush() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        List<Future<Void>> others = new ArrayList<>();
        for (int c = 0; c < 4; c++) {
            SplittableRandom random = new SplittableRandom(c);
            others.add(threads.submit(() -> {
                try (RawClient client = new RawClient(server.port())) {
                    while (!over.get()) {
                        for (int i = 0; i < 8; i++) {
                            client.queue("RPUSH", "busy" + random.nextInt(50), "v");
                            client.queue("LMOVE", "busy" + random.nextInt(50), "busy" + random.nextInt(50), "LEFT",
                                    "RIGHT");
                            client.queue("LPOP", "busy" + random.nextInt(50));
                        }
                        client.flush();
                        for (int i = 0; i < 24; i++) {
                            assertThat(client.read().isError()).isFalse();
                        }
                    }
                }
                return null;
            }));
        }
        try (RawClient first = new RawClient(server.port());
                RawClient second = new RawClient(server.port());
                RawClient pusher = new RawClient(server.port())) {
            for (int i = 0; i < 300; i++) {
                String[] keys = {"a" + i, "b" + i, "c" + i};
                first.queue("BLMOVE", keys[0], keys[1], "LEFT", "RIGHT", "0");
                first.flush();
                second.queue("BLMOVE", keys[1], keys[2], "LEFT", "RIGHT", "0");
                second.flush();
                awaitBlocked(pusher, 2);
                pusher.queue("RPUSH", keys[0], "e" + i);
                pusher.queue("EXISTS", keys[0], keys[1]);
                pusher.queue("LRANGE", keys[2], "0", "-1");
                pusher.flush();
                assertThat(pusher.read().integer()).isEqualTo(1);
                assertThat(pusher.read().integer()).isZero();
                assertThat(pusher.read().elements()).extracting(RawReply::text).containsExactly("e" + i);
                assertThat(first.read().text()).isEqualTo("e" + i);
                assertThat(second.read().text()).isEqualTo("e" + i);
            }
        } finally {
            over.set(true);
        }
        join(others);
    }

    private static void awaitBlocked(RawClient admin, int clients) {
        await().pollInterval(1, TimeUnit.MILLISECONDS).atMost(20, TimeUnit.SECONDS)
                .until(() -> admin.infoLong("blocked_clients") == clients);
    }

    /** Two clients wait for both keys, to which others push at the same time: one push is before the other. */
    @Test
    void clientsOfSeveralKeysAreServedInOneOrder() throws Exception {
        try (RawClient first = new RawClient(server.port());
                RawClient second = new RawClient(server.port());
                RawClient pusher = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            for (int i = 0; i < 300; i++) {
                first.queue("BLPOP", "a", "b", "0");
                first.flush();
                awaitBlocked(pusher, 1);
                second.queue("BLPOP", "b", "a", "0");
                second.flush();
                awaitBlocked(pusher, 2);
                pusher.queue("RPUSH", "a", "1", "2");
                other.queue("RPUSH", "b", "3");
                pusher.flush();
                other.flush();
                assertThat(pusher.read().integer()).isEqualTo(2);
                assertThat(other.read().integer()).isEqualTo(1);
                String taken = first.read().elements().get(1).text() + second.read().elements().get(1).text();
                assertThat(taken).isIn("12", "31");
                assertThat(pusher.call("DEL", "a", "b").integer()).isEqualTo(1);
            }
        }
    }

    /** Their replies are buffers and references of the pushers' event loops. */
    @Test
    void largeElementsReachClientsOfOtherEventLoops() throws Exception {
        List<RawClient> clients = new ArrayList<>();
        try (RawClient pusher = new RawClient(server.port())) {
            for (int i = 0; i < 9; i++) {
                clients.add(new RawClient(server.port()));
            }
            for (int i = 0; i < 30; i++) {
                String element = Integer.toString(i % 10).repeat(1_000 << i % 9);
                for (RawClient client : clients) {
                    client.queue("BLMPOP", "0", "1", "k", "LEFT", "COUNT", "2");
                    client.flush();
                }
                awaitBlocked(pusher, clients.size());
                pusher.queue("MULTI");
                for (int k = 0; k < 2 * clients.size(); k++) {
                    pusher.queue("RPUSH", "k", element);
                }
                pusher.queue("EXEC");
                pusher.flush();
                for (int k = 0; k < 2 * clients.size() + 2; k++) {
                    assertThat(pusher.read().isError()).isFalse();
                }
                for (RawClient client : clients) {
                    assertThat(client.read().elements().get(1).elements()).extracting(RawReply::text)
                            .containsExactly(element, element);
                }
                assertThat(pusher.call("EXISTS", "k").integer()).isZero();
            }
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
    }

    /** A client that waits when an element is pushed gets it, whatever empties the databases meanwhile. */
    @Test
    void noPushedElementIsLost() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        List<Future<Void>> emptying = new ArrayList<>();
        for (String command : new String[] {"FLUSHALL", "FLUSHDB", "KEYS *"}) {
            emptying.add(threads.submit(() -> {
                try (RawClient client = new RawClient(server.port())) {
                    while (!over.get()) {
                        assertThat(client.call(command.split(" ")).isError()).isFalse();
                    }
                }
                return null;
            }));
        }
        try (RawClient waiting = new RawClient(server.port()); RawClient pusher = new RawClient(server.port())) {
            for (int i = 0; i < 500; i++) {
                waiting.queue("BLPOP", "k", "0");
                waiting.flush();
                awaitBlocked(pusher, 1);
                assertThat(pusher.call("RPUSH", "k", "e" + i).integer()).isEqualTo(1);
                assertThat(waiting.read().elements().get(1).text()).isEqualTo("e" + i);
            }
        } finally {
            over.set(true);
        }
        join(emptying);
    }
}
