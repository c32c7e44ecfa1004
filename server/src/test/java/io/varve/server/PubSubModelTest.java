package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Clients publish while others subscribe and unsubscribe, on several event loops. Threads of the test share only a
 * counting clock. A subscriber receives every message that was published between the confirmations of its
 * subscription's begin and end, once, and those of each publisher in order.
 */
@Timeout(120)
class PubSubModelTest {
    private static final int PUBLISHERS = 3;
    private static final int LISTENERS = 6;
    private static final int CHANNELS = 4;
    private static final String PATTERN = "c*";
    private static final int PIPELINE = 8;
    private static final long ROUNDS = TestBudget.of("varve.model.operations", 45_000, 600_000) / 300;

    /** No listener is disconnected, however long its thread waits for a core. */
    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 3", "maxmemory 64mb",
            "client-output-buffer-limit pubsub 0 0 0");
    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger listening = new AtomicInteger(LISTENERS);

    /**
     * A published message. Immutable.
     *
     * @param number its number among its publisher's messages
     * @param sent a time before it was sent
     * @param acknowledged a time after it was known to be published
     */
    private record Published(String channel, int number, long sent, long acknowledged) {}

    /** A received message. Immutable. */
    private record Received(int publisher, int number, String channel) {}

    /**
     * A subscription and its received messages.
     *
     * @param name a channel, or the pattern
     * @param requested a time before its request
     * @param begun a time after it was confirmed
     * @param ending a time before its end was requested
     * @param ended a time after its end was confirmed
     */
    private record Subscription(String name, long requested, long begun, long ending, long ended,
            List<Received> received) {}

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void nothingIsLostDoubledOrOutOfOrder(int protocol) throws Exception {
        long seed = TestBudget.seed("varve.model.seed");
        System.out.println("PubSubModelTest RESP" + protocol + ", seed " + seed);
        List<Callable<List<Published>>> publishers = new ArrayList<>();
        List<Callable<List<Subscription>>> listeners = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < PUBLISHERS; i++) {
            int number = i;
            SplittableRandom own = random.split();
            publishers.add(() -> publish(number, own));
        }
        for (int i = 0; i < LISTENERS; i++) {
            SplittableRandom own = random.split();
            listeners.add(() -> listen(protocol, own));
        }
        List<List<Published>> published = new ArrayList<>();
        List<Subscription> subscriptions = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<List<Subscription>>> received = listeners.stream().map(threads::submit).toList();
            List<Future<List<Published>>> said = publishers.stream().map(threads::submit).toList();
            for (Future<List<Published>> one : said) {
                published.add(one.get());
            }
            for (Future<List<Subscription>> one : received) {
                subscriptions.addAll(one.get());
            }
        }
        subscriptions.forEach(subscription -> check(subscription, published));
        assertThat(subscriptions.stream().mapToInt(subscription -> subscription.received().size()).sum()).isPositive();
        nothingIsLeft();
    }

    private void nothingIsLeft() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            await().until(() -> client.info("connected_clients").equals("1"));
            for (String field : List.of("pubsub_channels", "pubsub_patterns", "pubsubshard_channels",
                    "undelivered_message_bytes")) {
                assertThat(client.infoLong(field)).as(field).isZero();
            }
        }
    }

    // --- publishing

    /** Goes on until all listeners have done their turns; a few commands at a time are under way. */
    private List<Published> publish(int publisher, SplittableRandom random) throws IOException {
        List<Published> published = new ArrayList<>();
        try (RawClient client = new RawClient(server.port())) {
            int next = 0;
            while (listening.get() > 0) {
                int count = random.nextInt(1, PIPELINE);
                long sent = clock.incrementAndGet();
                List<String> channels = new ArrayList<>();
                boolean together = random.nextInt(8) == 0;
                if (together) {
                    client.queue("MULTI");
                }
                for (int i = 0; i < count; i++) {
                    String channel = "c" + random.nextInt(CHANNELS);
                    channels.add(channel);
                    String padding = "x"
                            .repeat(random.nextInt(500) == 0 ? random.nextInt(100_000) : random.nextInt(50));
                    client.queue("PUBLISH", channel, publisher + " " + (next + i) + " " + padding);
                }
                if (together) {
                    client.queue("EXEC");
                }
                client.flush();
                for (int replies = together ? count + 2 : count; replies > 0; replies--) {
                    assertThat(client.read().isError()).isFalse();
                }
                long acknowledged = clock.incrementAndGet();
                for (String channel : channels) {
                    published.add(new Published(channel, next++, sent, acknowledged));
                }
            }
        }
        return published;
    }

    // --- listening

    /** Comes, listens to a few messages, goes, and does that again; now and then with a connection of its own. */
    private List<Subscription> listen(int protocol, SplittableRandom random) throws IOException {
        List<Subscription> over = new ArrayList<>();
        long turns = ROUNDS;
        try {
            while (turns > 0) {
                try (RawClient client = new RawClient(server.port())) {
                    client.call("HELLO", Integer.toString(protocol));
                    Listener listener = new Listener(client, random);
                    for (int i = random.nextInt(1, 40); i > 0 && turns > 0; i--) {
                        listener.turn(over);
                        turns--;
                    }
                    if (random.nextBoolean()) {
                        // Otherwise it disconnects, which ends its subscriptions.
                        listener.endAll(over);
                    }
                }
            }
        } finally {
            listening.decrementAndGet();
        }
        return over;
    }

    /** One connection that listens. Confined to its thread. */
    private final class Listener {
        private final RawClient client;
        private final SplittableRandom random;
        private final Map<String, Subscription> mine = new HashMap<>();

        Listener(RawClient client, SplittableRandom random) {
            this.client = client;
            this.random = random;
        }

        void turn(List<Subscription> over) throws IOException {
            String name = random.nextInt(4) == 0 ? PATTERN : "c" + random.nextInt(CHANNELS);
            if (mine.containsKey(name)) {
                end(name, over);
            } else {
                begin(name);
            }
            for (int i = mine.isEmpty() ? 0 : random.nextInt(30); i > 0; i--) {
                receive(client.read());
            }
        }

        private void begin(String name) throws IOException {
            long requested = clock.incrementAndGet();
            client.queue(name.equals(PATTERN) ? "PSUBSCRIBE" : "SUBSCRIBE", name);
            client.flush();
            readUntilConfirmed("subscribe", name);
            mine.put(name, new Subscription(name, requested, clock.incrementAndGet(), 0, 0, new ArrayList<>()));
        }

        private void end(String name, List<Subscription> over) throws IOException {
            long ending = clock.incrementAndGet();
            client.queue(name.equals(PATTERN) ? "PUNSUBSCRIBE" : "UNSUBSCRIBE", name);
            client.flush();
            readUntilConfirmed("unsubscribe", name);
            Subscription was = Objects.requireNonNull(mine.remove(name));
            over.add(new Subscription(name, was.requested(), was.begun(), ending, clock.incrementAndGet(),
                    was.received()));
        }

        void endAll(List<Subscription> over) throws IOException {
            for (String name : List.copyOf(mine.keySet())) {
                end(name, over);
            }
        }

        /** Messages may come before; with what comes behind, another read begins. */
        private void readUntilConfirmed(String word, String name) throws IOException {
            String expected = name.equals(PATTERN) ? "p" + word : word;
            for (RawReply push = client.read();; push = client.read()) {
                if (push.elements().getFirst().text().equals(expected)) {
                    assertThat(push.elements().get(1).text()).isEqualTo(name);
                    return;
                }
                receive(push);
            }
        }

        private void receive(RawReply push) {
            List<String> words = push.elements().stream().map(RawReply::text).toList();
            boolean byPattern = words.getFirst().equals("pmessage");
            assertThat(words).hasSize(byPattern ? 4 : 3);
            String channel = words.get(words.size() - 2);
            String name = byPattern ? PATTERN : channel;
            assertThat(words.get(1)).isEqualTo(name);
            assertThat(mine).as("a message for a name that it does not listen to").containsKey(name);
            String[] message = words.getLast().split(" ", 3);
            Objects.requireNonNull(mine.get(name)).received()
                    .add(new Received(Integer.parseInt(message[0]), Integer.parseInt(message[1]), channel));
        }
    }

    // --- the model

    private static void check(Subscription subscription, List<List<Published>> published) {
        Set<Received> received = new HashSet<>(subscription.received());
        assertThat(received).as("each once").hasSize(subscription.received().size());
        int[] last = new int[published.size()];
        java.util.Arrays.fill(last, -1);
        for (Received one : subscription.received()) {
            assertThat(one.number()).as("the order of publisher %d", one.publisher())
                    .isGreaterThan(last[one.publisher()]);
            last[one.publisher()] = one.number();
            Published was = published.get(one.publisher()).get(one.number());
            assertThat(was.channel()).isEqualTo(one.channel());
            assertThat(was.acknowledged()).as("published before").isGreaterThan(subscription.requested());
            assertThat(was.sent()).as("published behind").isLessThan(subscription.ended());
        }
        for (int publisher = 0; publisher < published.size(); publisher++) {
            for (Published one : published.get(publisher)) {
                boolean within = one.sent() > subscription.begun() && one.acknowledged() < subscription.ending();
                boolean of = subscription.name().equals(PATTERN) || subscription.name().equals(one.channel());
                if (within && of) {
                    assertThat(received.contains(new Received(publisher, one.number(), one.channel())))
                            .as("%s of publisher %d in %s", one, publisher, subscription.name()).isTrue();
                }
            }
        }
    }
}
