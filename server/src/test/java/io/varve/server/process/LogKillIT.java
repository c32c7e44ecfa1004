package io.varve.server.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Kills a server with a log while clients write and it rewrites its log and saves snapshots. After each start, the keys
 * of every client are as after a number of its commands: at least all acknowledged ones with {@code always}, at least
 * those of a second ago with {@code everysec}, and at most all that it has sent.
 *
 * <p>{@code -Dvarve.log.kills=N} sets the number of kills, {@code -Dvarve.log.seed=N} repeats the commands.
 */
@Timeout(7200)
class LogKillIT {
    private static final int KILLS = TestBudget.ofInt("varve.log.kills", 6, 1_000);
    private static final int CLIENTS = 4;
    private static final int PIPELINE = 16;
    /** With everysec, a client may lose the last second: the log's thread does not write while it forces a file. */
    private static final long LOSABLE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** How long clients write before a kill, ms: at least, and at most that much longer. */
    private static final int LEAST_MILLIS = 50;
    private static final int MORE_MILLIS = 400;

    @Test
    void acknowledgedChanges_surviveKills(@TempDir Path directory) throws IOException, InterruptedException {
        long seed = TestBudget.seed("varve.log.seed");
        SplittableRandom random = new SplittableRandom(seed);
        List<Writer> writers = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            writers.add(new Writer(i, random.split()));
        }
        boolean always = true;
        for (int i = 0; i <= KILLS; i++) {
            boolean nextAlways = random.nextInt(4) > 0;
            try (ServerProcess server = ServerProcess.start("--dir", directory.toString(), "--appendonly", "yes",
                    "--appendfsync", nextAlways ? "always" : "everysec", "--io-threads", "2", "--maxmemory", "64mb",
                    "--auto-aof-rewrite-min-size", "200kb")) {
                for (Writer writer : writers) {
                    writer.check(server.port(), always,
                            "seed " + seed + ", kill " + i + (always ? ", always" : ", everysec"));
                }
                always = nextAlways;
                if (i < KILLS) {
                    kill(server, writers, random, always ? 0 : LOSABLE_NANOS);
                }
            }
        }
    }

    /** @param losableNanos added to the time before the kill, so that something has to be there after it */
    private static void kill(ServerProcess server, List<Writer> writers, SplittableRandom random, long losableNanos)
            throws IOException, InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (Writer writer : writers) {
            threads.add(Thread.ofPlatform().start(() -> writer.run(server.port())));
        }
        try (RawClient admin = new RawClient(server.port())) {
            long end = System.nanoTime() + losableNanos
                    + TimeUnit.MILLISECONDS.toNanos(LEAST_MILLIS + random.nextInt(MORE_MILLIS));
            while (System.nanoTime() < end) {
                switch (random.nextInt(3)) {
                    case 0 -> admin.command("BGREWRITEAOF");
                    case 1 -> admin.command("BGSAVE");
                    default -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                }
            }
        }
        for (Writer writer : writers) {
            writer.dies();
        }
        server.process().destroyForcibly();
        for (Thread thread : threads) {
            thread.join();
        }
        for (Writer writer : writers) {
            assertThat(writer.failure).isNull();
        }
    }

    /** A command, or a transaction, and its effect on the model. */
    private record Step(List<String[]> commands, List<Runnable> effects) {}

    /** A client, and a model of its keys. */
    private static final class Writer {
        private final String prefix;
        private final SplittableRandom random;
        /** Steps that were sent and are not in the model yet. */
        private final Deque<Step> sent = new ArrayDeque<>();
        /** How many of them were acknowledged, and when. */
        private final Deque<Long> acknowledgedNanos = new ArrayDeque<>();
        private volatile long diedNanos;
        private volatile @Nullable Throwable failure;

        private long counter;
        private final List<String> list = new ArrayList<>();
        private final Map<String, String> hash = new TreeMap<>();
        private final TreeSet<String> set = new TreeSet<>();
        private final Map<String, String> scores = new HashMap<>();
        private String text = "";
        private long number;

        Writer(int index, SplittableRandom random) {
            prefix = "client" + index + ":";
            this.random = random;
        }

        void dies() {
            diedNanos = System.nanoTime();
        }

        private Step next() {
            List<String[]> commands = new ArrayList<>();
            List<Runnable> effects = new ArrayList<>();
            int count = random.nextInt(5) == 0 ? 1 + random.nextInt(5) : 1;
            for (int i = 0; i < count; i++) {
                add(commands, effects);
            }
            if (count > 1) {
                commands.addFirst(new String[] {"MULTI"});
                commands.addLast(new String[] {"EXEC"});
            }
            return new Step(commands, effects);
        }

        private void add(List<String[]> commands, List<Runnable> effects) {
            String value = "v" + number++;
            String member = "m" + random.nextInt(300);
            switch (random.nextInt(12)) {
                case 0 -> {
                    commands.add(new String[] {"INCR", prefix + "counter"});
                    effects.add(() -> counter++);
                }
                // As often as LPOP: the list stays short however many kills there are.
                case 1 -> {
                    commands.add(new String[] {"RPUSH", prefix + "list", value});
                    effects.add(() -> list.add(value));
                }
                case 3 -> {
                    commands.add(new String[] {"LPOP", prefix + "list"});
                    effects.add(() -> {
                        if (!list.isEmpty()) {
                            list.removeFirst();
                        }
                    });
                }
                case 2, 4, 5 -> {
                    commands.add(new String[] {"HSET", prefix + "hash", member, value});
                    effects.add(() -> hash.put(member, value));
                }
                case 6 -> {
                    commands.add(new String[] {"HDEL", prefix + "hash", member});
                    effects.add(() -> hash.remove(member));
                }
                case 7 -> {
                    commands.add(new String[] {"SADD", prefix + "set", member});
                    effects.add(() -> set.add(member));
                }
                case 8 -> {
                    commands.add(new String[] {"SREM", prefix + "set", member});
                    effects.add(() -> set.remove(member));
                }
                case 9 -> {
                    String score = Integer.toString(random.nextInt(1000));
                    commands.add(new String[] {"ZADD", prefix + "scores", score, member});
                    effects.add(() -> scores.put(member, score));
                }
                case 10 -> {
                    commands.add(new String[] {"SET", prefix + "text", value, "PX", "100000000"});
                    effects.add(() -> text = value);
                }
                default -> {
                    // It expires while the server writes, or is down; what it does to the log is the point.
                    commands.add(new String[] {"SET", prefix + "short" + random.nextInt(50), value, "PX", "15"});
                    effects.add(() -> {});
                }
            }
        }

        void run(int port) {
            try {
                write(port);
            } catch (RuntimeException | Error failed) {
                failure = failed;
            }
        }

        private void write(int port) {
            try (RawClient client = new RawClient(port)) {
                while (true) {
                    int steps = 1 + random.nextInt(PIPELINE);
                    List<Step> batch = new ArrayList<>();
                    for (int i = 0; i < steps; i++) {
                        Step step = next();
                        sent.addLast(step);
                        batch.add(step);
                        for (String[] command : step.commands) {
                            client.queue(command);
                        }
                    }
                    client.flush();
                    for (Step step : batch) {
                        for (String[] command : step.commands) {
                            RawReply reply = client.read();
                            assertThat(reply.isError()).as("%s: %s", List.of(command), reply).isFalse();
                        }
                        acknowledgedNanos.addLast(System.nanoTime());
                    }
                }
            } catch (IOException killed) {
                assertThat(diedNanos).as("the server ended by itself: %s", killed).isPositive();
            }
        }

        /** Applies as many of the sent steps as the server has kept. */
        void check(int port, boolean always, String how) throws IOException {
            int least = 0;
            for (long at : acknowledgedNanos) {
                if (always || at < diedNanos - LOSABLE_NANOS) {
                    least++;
                }
            }
            int applied = 0;
            try (RawClient client = new RawClient(port)) {
                String found = state(client);
                while (applied < least) {
                    sent.removeFirst().effects.forEach(Runnable::run);
                    applied++;
                }
                List<String> tried = new ArrayList<>();
                while (!found.equals(model())) {
                    tried.add(model());
                    assertThat(sent).as("%s, %s: no number of steps from %s on leads to %s, but the first to %s", how,
                            prefix, least, found, tried.getFirst()).isNotEmpty();
                    sent.removeFirst().effects.forEach(Runnable::run);
                }
            }
            sent.clear();
            acknowledgedNanos.clear();
            diedNanos = 0;
        }

        private String model() {
            List<String> members = new ArrayList<>();
            scores.forEach((member, score) -> members.add(member + "=" + score));
            Collections.sort(members);
            return counter + " " + list + " " + hash + " " + set + " " + members + " " + text;
        }

        private String state(RawClient client) throws IOException {
            RawReply count = client.call("GET", prefix + "counter");
            Map<String, String> fields = new TreeMap<>();
            List<RawReply> pairs = client.call("HGETALL", prefix + "hash").elements();
            for (int i = 0; i < pairs.size(); i += 2) {
                fields.put(pairs.get(i).text(), pairs.get(i + 1).text());
            }
            TreeSet<String> members = new TreeSet<>();
            client.call("SMEMBERS", prefix + "set").elements().forEach(each -> members.add(each.text()));
            List<String> scored = new ArrayList<>();
            List<RawReply> range = client.call("ZRANGE", prefix + "scores", "0", "-1", "WITHSCORES").elements();
            for (int i = 0; i < range.size(); i += 2) {
                scored.add(range.get(i).text() + "=" + range.get(i + 1).text());
            }
            Collections.sort(scored);
            List<String> elements = client.call("LRANGE", prefix + "list", "0", "-1").elements().stream()
                    .map(RawReply::text).toList();
            RawReply last = client.call("GET", prefix + "text");
            return (count.isNull() ? "0" : count.text()) + " " + elements + " " + fields + " " + members + " " + scored
                    + " " + (last.isNull() ? "" : last.text());
        }
    }
}
