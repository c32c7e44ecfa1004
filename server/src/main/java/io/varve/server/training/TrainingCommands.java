package io.varve.server.training;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** Sends commands with random keys and elements in batches of one length. Confined to one thread. */
final class TrainingCommands {
    private static final int KEYS = 2000;
    private static final int MEMBERS = 500;
    private static final int DEGREES = 80;
    private static final int SHORT_BYTES = 3;
    private static final int MIDDLE_BYTES = 16;
    private static final int LONG_BYTES = 1000;

    private final TrainingClient client;
    private final int pipeline;
    private final SplittableRandom random = new SplittableRandom(1);
    private final Map<String, Supplier<String>> variables = Map.ofEntries(
            Map.entry("$key", () -> "key:" + random.nextInt(KEYS)),
            Map.entry("$counter", () -> "counter:" + random.nextInt(KEYS)),
            Map.entry("$list", () -> "list:" + random.nextInt(KEYS)),
            Map.entry("$hash", () -> "hash:" + random.nextInt(KEYS)),
            Map.entry("$set", () -> "set:" + random.nextInt(KEYS)),
            Map.entry("$zset", () -> "zset:" + random.nextInt(KEYS)),
            Map.entry("$member", () -> "element:" + random.nextInt(MEMBERS)),
            Map.entry("$number", () -> Integer.toString(random.nextInt(KEYS))),
            Map.entry("$score", () -> Integer.toString(random.nextInt())),
            Map.entry("$degrees", () -> random.nextInt(DEGREES) + ".25"),
            Map.entry("$release",
                    () -> "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) "
                            + "else return 0 end"),
            Map.entry("$count",
                    () -> "local n = tonumber(redis.call('get', 'counted') or 0) for i = 1, 10 do n = n + i "
                            + "end redis.call('set', 'counted', n) return {n, cjson.encode({n = n}), string.format('%d', n)}"),
            Map.entry("$short", () -> "v".repeat(SHORT_BYTES)),
            Map.entry("$value", () -> "v".repeat(MIDDLE_BYTES)),
            Map.entry("$long", () -> "v".repeat(LONG_BYTES)));

    TrainingCommands(TrainingClient client, int pipeline) {
        this.client = client;
        this.pipeline = pipeline;
    }

    /**
     * Sends commands in turn. Several connections get them, so those on one key may run in another order.
     *
     * @param count number of requests of each command
     * @param lines commands, with a blank between two words; a word such as {@code $key} is a variable
     */
    void send(int count, String... lines) throws IOException {
        List<String[]> commands = List.of(lines).stream().map(line -> line.split(" ", -1)).toList();
        int queued = 0;
        for (int i = 0; i < count; i++) {
            for (String[] command : commands) {
                client.queue(filled(command));
                if (++queued % pipeline == 0) {
                    client.flush();
                }
            }
        }
        client.finish();
    }

    /** Sends an inline command. */
    void sendInline(int count, String line) throws IOException {
        String[] words = line.split(" ", -1);
        for (int i = 1; i <= count; i++) {
            client.queueInline(String.join(" ", filled(words)));
            if (i % pipeline == 0) {
                client.flush();
            }
        }
        client.finish();
    }

    /** Sends commands as one batch to one connection, and no other meanwhile, so that they run in this order. */
    void sendTogether(int count, String... lines) throws IOException {
        for (int i = 0; i < count; i++) {
            for (String line : lines) {
                client.queue(filled(line.split(" ", -1)));
            }
            client.finish();
        }
    }

    private String[] filled(String[] words) {
        String[] filled = words.clone();
        for (int i = 1; i < filled.length; i++) {
            Supplier<String> variable = variables.get(filled[i]);
            if (variable != null) {
                filled[i] = variable.get();
            }
        }
        return filled;
    }
}
