package io.varve.server.process;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

import io.varve.server.command.hash.RandomHashCommands;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One of the clients of {@link SoakIT}: it connects, sends commands of all types in batches, disconnects in one of
 * several ways, and reconnects. Confined to its thread; all share the counts.
 */
final class SoakClient {
    private static final int BATCH = 50;
    private static final int KEYS = 300_000;
    /** So long keys are many and small, and then as long fewer and larger: the indexes grow and shrink. */
    private static final long TIDE_NANOS = 5_000_000_000L;

    private final int port;
    private final SplittableRandom random;
    private final LongAdder commands;
    private boolean ebb;

    /** @param commands counts what was answered */
    SoakClient(int port, long seed, LongAdder commands) {
        this.port = port;
        random = new SplittableRandom(seed);
        this.commands = commands;
    }

    /** Connects and disconnects until it is to end. */
    void run(BooleanSupplier isOver) throws IOException {
        while (!isOver.getAsBoolean()) {
            try (RawClient client = new RawClient(port)) {
                assertThat(client.call("HELLO", "3").isError()).isFalse();
                for (int i = random.nextInt(1, 40); i > 0 && !isOver.getAsBoolean(); i--) {
                    ebb = System.nanoTime() / TIDE_NANOS % 2 == 0;
                    batch(client);
                }
                leave(client);
            }
        }
    }

    private void batch(RawClient client) throws IOException {
        List<List<String>> batch = new ArrayList<>();
        switch (random.nextInt(13)) {
            case 0, 1, 2 -> anyCommands(batch);
            case 12 -> fieldTimes(batch);
            case 3, 4, 5, 6 -> strings(batch);
            case 7, 8 -> collections(batch);
            case 9 -> waiting(batch);
            case 10 -> listening(batch);
            default -> transaction(batch);
        }
        if (random.nextInt(12_000) == 0) {
            batch.add(List.of(random.nextBoolean() ? "FLUSHALL" : "FLUSHDB"));
        }
        for (List<String> command : batch) {
            client.queue(command.toArray(String[]::new));
        }
        client.drain();
        commands.add(batch.size() + 1L);
    }

    /**
     * The differential tests' commands: every one, right and wrong. But what empties databases, or walks over all keys,
     * comes seldom.
     */
    private void anyCommands(List<List<String>> batch) {
        for (ScriptStep step : new RandomCommands(random.nextLong(), true).script(BATCH)) {
            String name = step.arguments().getFirst().toUpperCase(Locale.ROOT);
            switch (name) {
                case "FLUSHALL", "FLUSHDB", "SWAPDB" -> {
                }
                case "KEYS" -> {
                    if (random.nextInt(100) == 0) {
                        batch.add(step.arguments());
                    }
                }
                default -> batch.add(step.arguments());
            }
        }
        batch.add(List.of("SELECT", "0"));
    }

    /**
     * Fields of hashes get times, lose them and fall due: of packed ones and of trees, some at a time and thousands at
     * once.
     */
    private void fieldTimes(List<List<String>> batch) {
        batch.addAll(new RandomHashCommands(random.nextLong(), random.nextInt(5, 600), System.currentTimeMillis())
                .commands(BATCH / 2));
        batch.add(List.of("DISCARD"));
        String key = "h:" + random.nextInt(60);
        int count = random.nextInt(1, 400);
        List<String> fields = words("FIELDS", Integer.toString(count));
        for (int i = 0; i < count; i++) {
            fields.add("element " + random.nextInt(5_000));
        }
        List<String> expire = words("HPEXPIRE", key, Integer.toString(random.nextInt(1, 2_000)));
        expire.addAll(fields);
        List<String> ask = words(random.nextBoolean() ? "HPTTL" : "HPERSIST", key);
        ask.addAll(fields);
        batch.addAll(List.of(expire, random.nextInt(3) == 0 ? ask : List.of("HLEN", key),
                List.of("HRANDFIELD", key, Integer.toString(random.nextInt(-30, 30)))));
    }

    private void strings(List<List<String>> batch) {
        for (int i = 0; i < BATCH; i++) {
            String key = "s:" + random.nextInt(ebb ? KEYS / 5 : KEYS);
            String value = "v".repeat(ebb ? random.nextInt(200, 3_000) : random.nextInt(8, 60));
            switch (random.nextInt(6)) {
                case 0, 1 -> batch.add(List.of("SET", key, value));
                case 2, 3 -> batch.add(List.of("SET", key, value, "PX", Integer.toString(random.nextInt(1, 4_000))));
                case 4 -> batch.add(List.of("GET", key));
                default -> batch.add(List.of("MGET", key, "s:" + random.nextInt(KEYS)));
            }
        }
        if (random.nextInt(200) == 0) {
            // A run of its own.
            batch.add(List.of("SET", "large:" + random.nextInt(10), "v".repeat(random.nextInt(100_000, 400_000))));
        }
    }

    /** Packed collections and trees, which grow, are read, shrink and expire. */
    private void collections(List<List<String>> batch) {
        String number = Integer.toString(random.nextInt(60));
        List<String> hash = words("HSET", "h:" + number);
        List<String> set = words("SADD", "set:" + number);
        List<String> sorted = words("ZADD", "z:" + number);
        List<String> list = words("RPUSH", "l:" + number);
        for (int i = 0; i < BATCH; i++) {
            String element = "element " + random.nextInt(5_000);
            hash.addAll(List.of(element, "v".repeat(random.nextInt(40))));
            set.add(element);
            sorted.addAll(List.of(Integer.toString(random.nextInt(1_000)), element));
            list.add(element);
        }
        String element = "element " + random.nextInt(5_000);
        batch.addAll(List.of(hash, set, sorted, list, words("HDEL", "h:" + number, element),
                words("SREM", "set:" + number, element), words("ZREM", "z:" + number, element),
                words("LTRIM", "l:" + number, "0", "2000"), words("HMGET", "h:" + number, element, "none"),
                words("SPOP", "set:" + number, "20"), words("ZRANGE", "z:" + number, "100", "120", "WITHSCORES"),
                words("ZRANK", "z:" + number, element), words("LRANGE", "l:" + number, "-20", "-1"),
                words("ZPOPMIN", "z:" + number, "10"), words("SSCAN", "set:" + number, "0", "COUNT", "50"),
                words("SUNIONSTORE", "set:stored", "set:" + number, "set:" + random.nextInt(60)),
                words("ZRANGESTORE", "z:stored", "z:" + number, "0", "300")));
        for (String kind : List.of("h:", "set:", "z:", "l:")) {
            switch (random.nextInt(12)) {
                case 0 -> batch.add(List.of("PEXPIRE", kind + number, Integer.toString(random.nextInt(1, 3_000))));
                case 1 -> batch.add(List.of("UNLINK", kind + number));
                case 2 -> batch.add(List.of("COPY", kind + number, kind + random.nextInt(60), "REPLACE"));
                default -> batch.add(List.of("PERSIST", kind + number));
            }
        }
    }

    private static List<String> words(String... words) {
        return new ArrayList<>(List.of(words));
    }

    private void waiting(List<List<String>> batch) {
        for (int i = 0; i < 6; i++) {
            String queue = "queue:" + random.nextInt(20);
            switch (random.nextInt(5)) {
                case 0, 1 -> batch.add(List.of("RPUSH", queue, "job"));
                case 2 -> batch.add(List.of("BLPOP", queue, "queue:" + random.nextInt(20), "0.02"));
                case 3 -> batch.add(List.of("BLMOVE", queue, "queue:" + random.nextInt(20), "LEFT", "RIGHT", "0.02"));
                default -> batch.add(List.of("BZPOPMIN", "zqueue:" + random.nextInt(5), "0.02"));
            }
        }
        batch.add(List.of("ZADD", "zqueue:" + random.nextInt(5), "1", "job"));
    }

    private void listening(List<List<String>> batch) {
        batch.add(List.of("SUBSCRIBE", "channel:" + random.nextInt(20), "__keyevent@0__:expired"));
        batch.add(List.of("CLIENT", "TRACKING", "ON"));
        for (int i = 0; i < 10; i++) {
            batch.add(List.of("PUBLISH", "channel:" + random.nextInt(20), "message " + i));
            batch.add(List.of("GET", "s:" + random.nextInt(KEYS)));
        }
        if (random.nextInt(3) > 0) {
            batch.add(List.of("UNSUBSCRIBE"));
            batch.add(List.of("CLIENT", "TRACKING", "OFF"));
        }
    }

    private void transaction(List<List<String>> batch) {
        String key = "n:" + random.nextInt(100);
        batch.addAll(List.of(List.of("WATCH", key, "n:" + random.nextInt(100)), List.of("GET", key), List.of("MULTI"),
                List.of("INCR", key), List.of("SET", "s:" + random.nextInt(KEYS), "v", "EX", "2"),
                List.of("DUMP", "h:" + random.nextInt(60)), List.of(random.nextInt(5) == 0 ? "DISCARD" : "EXEC")));
    }

    /** Politely, or in the middle of whatever it may be. */
    private void leave(RawClient client) throws IOException {
        switch (random.nextInt(7)) {
            case 0, 1 -> {
                client.queue("QUIT");
                client.flush();
                RawReply reply;
                do {
                    // Messages may come first.
                    reply = client.read();
                } while (!reply.text().equals("OK"));
                try {
                    throw new IOException("After QUIT: " + client.read());
                } catch (EOFException _) {
                    // As it has to be.
                }
            }
            case 2 -> client.send("*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$100000\r\n" + "v".repeat(random.nextInt(100_000)));
            case 3 -> client.send(RawClient.encode("BLPOP", "never", "0"));
            case 4 -> {
                client.queue("SUBSCRIBE", "channel:1");
                client.queue("WATCH", "n:1");
                client.queue("MULTI");
                client.queue("SET", "n:1", "v".repeat(random.nextInt(30_000)));
                client.flush();
            }
            case 5 -> {
                // Replies that it does not read.
                for (int i = 0; i < 20; i++) {
                    client.queue("GET", "large:" + random.nextInt(10));
                }
                client.flush();
            }
            default -> {
            }
        }
    }
}
