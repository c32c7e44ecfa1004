package io.varve.server.concurrency;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.varve.server.Tiers;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every command that reads optimistically, while another client overwrites, deletes and expires the keys, and a third
 * makes the index rehash and the cleaner move items. Each client is confined to its thread.
 *
 * <p>The states of a key are numbered, and only one client changes it. A reader notes the last state that was complete
 * before it sent a pipeline, and the last that was begun when it had the replies. The replies are linearizable if they
 * belong to states between these two that never go back.
 */
class OptimisticReadsConcurrencyTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int STEPS = TestBudget.ofInt("varve.concurrency.steps", 4_000, 200_000);
    private static final int READERS = 2;
    private static final int MAX_PIPELINE = 20;
    private static final int FILLERS = 20_000;
    private static final List<String> KEYS = List.of("s", "l", "h", "t", "i", "z");
    /** The number of states after which they repeat; in the last, there is no item. */
    private static final int SHAPES = 6;
    private static final int ABSENT = SHAPES - 1;
    /** A state that expires soon. */
    private static final int SHORT_LIVED = SHAPES - 2;

    private final AtomicIntegerArray begun = new AtomicIntegerArray(KEYS.size());
    private final AtomicIntegerArray done = new AtomicIntegerArray(KEYS.size());
    private final AtomicBoolean over = new AtomicBoolean();
    /** For each read, the replies in each of the shapes. */
    private final Map<String, List<String>> replies = new HashMap<>();

    @Test
    void repliesBelongToStatesThatNeverGoBack() throws Exception {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "io-threads 3", "shards 2",
                "segment-size 16kb");
        Tiers tiers = Tiers.open(config);
        ObservedCache observed = new ObservedCache(tiers.cache());
        int port = servers.start(config, new Tiers(observed.cache(), tiers.flash())).port();
        try (RawClient writer = new RawClient(port);
                ExecutorService threads = Executors.newFixedThreadPool(READERS + 1)) {
            learn(writer);
            List<Future<Long>> others = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                int seed = i;
                others.add(threads.submit(() -> read(port, seed)));
            }
            others.add(threads.submit(() -> fill(port)));
            try {
                write(writer);
            } finally {
                over.set(true);
            }
            long total = 0;
            for (Future<Long> other : others) {
                total += other.get();
            }
            assertThat(total).isPositive();
            assertThat(writer.infoLong("cleaner_segments_cleaned")).as("segments cleaned").isPositive();
            assertThat(observed.confirmed()).as("reads without the lock").isGreaterThan(STEPS);
            assertThat(observed.refused()).as("reads that met a change").isPositive();
            assertThat(tiers.cache().checkIntegrity()).isEmpty();
        }
    }

    /** Notes the reply to each read in each shape. */
    private void learn(RawClient client) throws IOException {
        for (String read : ObservedCache.READS) {
            List<String> known = new ArrayList<>();
            for (int shape = 0; shape < SHAPES; shape++) {
                change(client, read.split(" ")[1], shape, "1000000");
                known.add(normalized(read, client.call(read.split(" "))));
            }
            assertThat(known.stream().distinct()).as(read).hasSizeGreaterThan(1);
            replies.put(read, known);
        }
        for (String key : KEYS) {
            change(client, key, 0, "");
        }
    }

    private void write(RawClient client) throws IOException {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < STEPS; i++) {
            int number = random.nextInt(KEYS.size());
            String key = KEYS.get(number);
            int next = done.get(number) + 1;
            if (next % SHAPES == SHORT_LIVED && random.nextInt(10) == 0) {
                begun.set(number, next + 1);
                change(client, key, next, Integer.toString(1 + random.nextInt(3)));
                while (client.call("EXISTS", key).integer() != 0) {
                    Thread.onSpinWait();
                }
                done.set(number, next + 1);
            } else {
                begun.set(number, next);
                change(client, key, next, "1000000");
                done.set(number, next);
            }
        }
    }

    /** Brings a key into a state in one step. */
    private static void change(RawClient client, String key, int state, String millis) throws IOException {
        int shape = state % SHAPES;
        List<String[]> steps = new ArrayList<>();
        steps.add(new String[] {"DEL", key});
        if (shape != ABSENT) {
            steps.add(filling(key, shape));
        }
        if (shape == SHORT_LIVED) {
            steps.add(new String[] {"PEXPIRE", key, millis});
        }
        client.queue("MULTI");
        for (String[] step : steps) {
            client.queue(step);
        }
        client.queue("EXEC");
        client.flush();
        for (int i = 0; i <= steps.size(); i++) {
            assertThat(client.read().isError()).isFalse();
        }
        assertThat(client.read().elements()).hasSize(steps.size()).noneMatch(RawReply::isError);
    }

    private static String[] filling(String key, int shape) {
        int size = new int[] {1, 20, 3, 70, 8}[shape];
        return switch (key) {
            case "s" -> new String[] {"SET", key, (shape % 2 == 0 ? "4" : "x") + "y".repeat(size)};
            case "l" -> command("RPUSH", key, size, i -> Stream.of("element" + shape + i));
            case "h" -> command("HSET", key, size, i -> Stream.of(i == 0 ? "f" : "g" + (i + shape), "v" + shape + i));
            case "t" -> command("SADD", key, size, i -> Stream.of(i == 0 && shape % 2 == 0 ? "m" : "n" + shape + i));
            case "i" -> command("SADD", key, size, i -> Stream.of(Integer.toString(i + shape % 2 * 2)));
            default ->
                command("ZADD", key, size, i -> Stream.of(Integer.toString(i - shape), i == shape ? "m" : "o" + i));
        };
    }

    private static String[] command(String name, String key, int size,
            java.util.function.IntFunction<Stream<String>> arguments) {
        return Stream.concat(Stream.of(name, key), IntStream.range(0, size).boxed().flatMap(arguments::apply))
                .toArray(String[]::new);
    }

    /** Without a time that lies ahead. */
    private static String normalized(String read, RawReply reply) {
        return read.contains("TTL") || read.contains("EXPIRETIME")
                ? Long.toString(Math.min(reply.integer(), 0))
                : reply.toString();
    }

    /** @return the number of replies */
    private long read(int port, int seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, List<String>> byKey = ObservedCache.READS.stream()
                .collect(Collectors.groupingBy(read -> read.split(" ")[1]));
        long count = 0;
        try (RawClient client = new RawClient(port)) {
            while (!over.get()) {
                int number = random.nextInt(KEYS.size());
                List<String> reads = Objects.requireNonNull(byKey.get(KEYS.get(number)));
                String[] sent = new String[1 + random.nextInt(MAX_PIPELINE)];
                int before = done.get(number);
                for (int i = 0; i < sent.length; i++) {
                    sent[i] = reads.get(random.nextInt(reads.size()));
                    client.queue(sent[i].split(" "));
                }
                client.flush();
                String[] received = new String[sent.length];
                for (int i = 0; i < sent.length; i++) {
                    received[i] = normalized(sent[i], client.read());
                }
                check(sent, received, before, begun.get(number));
                count += sent.length;
            }
        }
        return count;
    }

    private void check(String[] sent, String[] received, int before, int after) {
        int state = before;
        for (int i = 0; i < sent.length; i++) {
            List<String> known = Objects.requireNonNull(replies.get(sent[i]));
            while (!known.get(state % SHAPES).equals(received[i])) {
                state++;
                assertThat(state).as("state of reply %s to %s: none from %s on; sent %s, received %s", i, sent[i],
                        before, Arrays.asList(sent), Arrays.asList(received)).isLessThanOrEqualTo(after);
            }
        }
    }

    /** Fills and empties the shards. @return the number of commands */
    private long fill(int port) throws IOException {
        SplittableRandom random = new SplittableRandom(11);
        long count = 0;
        try (RawClient client = new RawClient(port)) {
            while (!over.get()) {
                for (int i = 0; i < 50; i++) {
                    String key = "filler" + random.nextInt(FILLERS);
                    client.queue(count / FILLERS % 2 == 0
                            ? new String[] {"SET", key, "x".repeat(random.nextInt(600))}
                            : new String[] {"DEL", key});
                }
                client.flush();
                for (int i = 0; i < 50; i++) {
                    assertThat(client.read().isError()).isFalse();
                }
                count += 50;
            }
        }
        return count;
    }
}
