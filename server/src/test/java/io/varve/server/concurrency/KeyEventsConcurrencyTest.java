package io.varve.server.concurrency;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients of several event loops change common keys: the events of each key are published in the order in which they
 * occurred, and all subscribers receive all of them in one order. Several threads; assertions are confined to the
 * test's.
 */
@Timeout(120)
class KeyEventsConcurrencyTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int WRITERS = 4;
    private static final int ROUNDS = 2000;
    private static final String END = "__keyspace@0__:end";

    @Test
    void eachKeysStoryIsTrueAndTheSameForAll() throws Exception {
        try (VarveServer server = servers.start("io-threads 4", "maxmemory 64mb", "notify-keyspace-events Kg$n");
                RawClient one = new RawClient(server.port());
                RawClient other = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(WRITERS)) {
            one.call("PSUBSCRIBE", "__keyspace*");
            other.call("PSUBSCRIBE", "__keyspace@0__:*");
            List<Callable<Integer>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                long seed = i;
                writers.add(() -> write(server.port(), seed));
            }
            for (Future<Integer> writer : threads.invokeAll(writers)) {
                assertThat(writer.get()).isEqualTo(ROUNDS);
            }
            try (RawClient last = new RawClient(server.port())) {
                last.call("SET", "end", "");
            }
            List<String> story = story(one);
            assertThat(story(other)).isEqualTo(story);
            assertThat(story).hasSizeGreaterThan(ROUNDS);
            check(story);
        }
    }

    private static int write(int port, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        try (RawClient client = new RawClient(port)) {
            for (int i = 0; i < ROUNDS; i++) {
                String key = "k" + random.nextInt(5);
                if (random.nextBoolean()) {
                    client.call("SET", key, "v");
                } else {
                    client.call("DEL", key);
                }
            }
        }
        return ROUNDS;
    }

    private static List<String> story(RawClient listener) throws IOException {
        List<String> story = new ArrayList<>();
        while (true) {
            List<RawReply> message = listener.read().elements();
            if (message.get(2).text().equals(END)) {
                return story;
            }
            story.add(message.get(2).text() + " " + message.get(3).text());
        }
    }

    /** A key comes, is set, perhaps again and again, and is deleted. */
    private static void check(List<String> story) {
        Map<String, String> before = new HashMap<>();
        for (String reported : story) {
            String key = reported.substring(0, reported.indexOf(' '));
            String what = reported.substring(reported.indexOf(' ') + 1);
            String last = before.getOrDefault(key, "del");
            before.put(key, what);
            switch (what) {
                case "new" -> assertThat(last).as(reported).isEqualTo("del");
                case "set" -> assertThat(last).as(reported).isIn("new", "set");
                case "del" -> assertThat(last).as(reported).isEqualTo("set");
                default -> throw new AssertionError(reported);
            }
        }
    }
}
