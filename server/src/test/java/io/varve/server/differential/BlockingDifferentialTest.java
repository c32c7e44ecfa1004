package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several clients, some of them blocked, send equal random commands, one at a time, to Varve and to a real Redis. After
 * each command the blocked clients and all replies must match. Confined to the test's thread.
 *
 * <p>{@code -Dvarve.differential.blocking-commands=N} sets the number of commands, {@code -Dvarve.differential.seed=N}
 * repeats a run.
 */
@Timeout(600)
class BlockingDifferentialTest {
    private static final long COMMANDS = TestBudget.of("varve.differential.blocking-commands", 6_000, 200_000);
    private static final int SCRIPT_COMMANDS = 150;
    private static final int CLIENTS = 6;
    private static final String[] KEYS = {"k", "l", "m", "n"};
    /**
     * Keys that store only sorted sets: Redis serves no client from a key that held another type and is overwritten.
     */
    private static final String TARGET = "target";
    private static final String[] ENDS = {"LEFT", "RIGHT"};
    private static final List<String> SWAP = List.of("SWAPDB", "0", "1");

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("io-threads 3", "maxmemory 64mb", "shards 8");

    /** One server, its clients, and which of them wait for how many replies. Confined to the test's thread. */
    private static final class Side implements AutoCloseable {
        private final RawClient admin;
        private final List<RawClient> clients = new ArrayList<>();
        private final List<String> ids = new ArrayList<>();
        private final boolean[] waiting = new boolean[CLIENTS];

        Side(int port, int protocol) throws IOException {
            admin = new RawClient(port);
            assertThat(admin.call("FLUSHALL").text()).isEqualTo("OK");
            for (int i = 0; i < CLIENTS; i++) {
                RawClient client = new RawClient(port);
                client.call("HELLO", Integer.toString(protocol));
                ids.add(client.call("CLIENT", "ID").text());
                clients.add(client);
            }
        }

        /** Sends commands in one piece, and reads all replies but the last, which may be late if it waits. */
        List<String> send(int client, List<List<String>> commands) throws IOException {
            for (List<String> command : commands) {
                clients.get(client).queue(command.stream().map(this::ofThisSide).toArray(String[]::new));
            }
            clients.get(client).flush();
            List<String> replies = new ArrayList<>();
            for (int i = 1; i < commands.size(); i++) {
                replies.add(clients.get(client).reply());
            }
            waiting[client] = true;
            return replies;
        }

        private String ofThisSide(String word) {
            return word.startsWith("#") ? ids.get(word.charAt(1) - '0') : word;
        }

        /** How many clients wait, or have a reply that is not read yet. */
        int silent() {
            int silent = 0;
            for (boolean waits : waiting) {
                silent += waits ? 1 : 0;
            }
            return silent;
        }

        /**
         * Waits until each client either waits or has its reply.
         *
         * @param expected how many are to wait then, on any event loop; -1: that is not known
         * @return the new replies, by client
         */
        List<String> settle(int expected) throws IOException {
            String[] replies = new String[CLIENTS];
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (true) {
                long blocked = admin.infoLong("blocked_clients");
                for (int i = 0; i < CLIENTS; i++) {
                    if (waiting[i] && clients.get(i).isAnswered()) {
                        replies[i] = clients.get(i).reply();
                        waiting[i] = false;
                    }
                }
                if (silent() == blocked && (expected < 0 || blocked == expected) || System.nanoTime() > end) {
                    break;
                }
            }
            List<String> all = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                all.add(replies[i] != null ? replies[i] : waiting[i] ? "waits" : "");
            }
            return all;
        }

        @Override
        public void close() throws IOException {
            for (RawClient client : clients) {
                client.close();
            }
            // Waiting clients must have disconnected before the next script begins.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (admin.infoLong("blocked_clients") > 0) {
                assertThat(System.nanoTime()).isLessThan(end);
            }
            admin.close();
        }
    }

    @Test
    void theSameClientsWaitAndTheOthersAreAnsweredTheSame() throws IOException {
        if (!varve.reference().isAtLeast(7)) {
            throw new IllegalStateException("BLMPOP is compared with Redis 7: " + varve.reference());
        }
        long seed = TestBudget.seed("varve.differential.seed");
        SplittableRandom seeds = new SplittableRandom(seed);
        for (long sent = 0; sent < COMMANDS; sent += SCRIPT_COMMANDS) {
            long limit = PackedLimits.vary(varve.port(), sent / SCRIPT_COMMANDS);
            script(seed, (sent / SCRIPT_COMMANDS) % 2 == 0 ? 2 : 3, limit);
            seed = seeds.nextLong();
        }
    }

    private void script(long seed, int protocol, long limit) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        List<String> log = new ArrayList<>();
        List<Set<String>> waitedFor = new ArrayList<>(Collections.nCopies(CLIENTS, Set.of()));
        String[] databases = Collections.nCopies(CLIENTS, "0").toArray(String[]::new);
        try (Side redis = new Side(varve.reference().port(), protocol);
                Side ours = new Side(varve.port(), protocol)) {
            for (int i = 0; i < SCRIPT_COMMANDS; i++) {
                int client = random.nextInt(CLIENTS);
                List<List<String>> commands = redis.waiting[client] ? List.of() : commands(random, redis.waiting);
                if (commands.isEmpty() || commands.contains(SWAP) && waitsForSeveral(redis.waiting, waitedFor)) {
                    continue;
                }
                for (List<String> words : commands) {
                    databases[client] = words.getFirst().equals("SELECT") ? words.getLast() : databases[client];
                }
                String database = databases[client];
                waitedFor.set(client, keysWaitedFor(commands.getLast()).stream().map(key -> database + ' ' + key)
                        .collect(Collectors.toSet()));
                log.add(client + ": "
                        + commands.stream().map(words -> String.join(" ", words)).collect(Collectors.joining("; ")));
                List<String> expected = redis.send(client, commands);
                expected.addAll(redis.settle(-1));
                List<String> actual = ours.send(client, commands);
                actual.addAll(ours.settle(redis.silent()));
                log.add("   -> " + expected.toString().replace("\r\n", " "));
                assertThat(actual).as("seed %d, RESP%d, packed-max-entries %d, %s:%n%s", seed, protocol, limit,
                        varve.reference(), String.join("\n", log))
                        .isEqualTo(expected);
            }
        }
    }

    /** Whether a swap may bring several keys that are waited for: which is served first is not specified then. */
    private static boolean waitsForSeveral(boolean[] waiting, List<Set<String>> waitedFor) {
        Set<String> keys = new HashSet<>();
        for (int i = 0; i < CLIENTS; i++) {
            if (waiting[i]) {
                keys.addAll(waitedFor.get(i));
            }
        }
        return keys.size() > 1;
    }

    private static Set<String> keysWaitedFor(List<String> words) {
        return switch (words.getFirst()) {
            case "BLPOP", "BRPOP", "BZPOPMIN", "BZPOPMAX" -> Set.copyOf(words.subList(1, words.size() - 1));
            case "BLMOVE", "BRPOPLPUSH" -> Set.of(words.get(1));
            case "XREAD", "XREADGROUP" -> keysBehind(words, words.indexOf("STREAMS") + 1);
            case "BLMPOP", "BZMPOP" -> Set.copyOf(words.subList(3, 3 + Integer.parseInt(words.get(2))));
            default -> Set.of();
        };
    }

    private static Set<String> keysBehind(List<String> words, int first) {
        return Set.copyOf(words.subList(first, first + (words.size() - first) / 2));
    }

    // --- commands

    private static String one(SplittableRandom random, String... words) {
        return words[random.nextInt(words.length)];
    }

    /**
     * The commands that a client sends in one piece: a command, a transaction, or some commands of which the last may
     * wait.
     */
    private static List<List<String>> commands(SplittableRandom random, boolean[] waiting) {
        List<List<String>> commands = new ArrayList<>();
        switch (random.nextInt(9)) {
            case 0 -> {
                commands.add(List.of("MULTI"));
                for (int i = random.nextInt(5); i >= 0; i--) {
                    commands.add(random.nextInt(4) == 0 ? waitingCommand(random) : command(random));
                }
                commands.add(List.of("EXEC"));
            }
            case 1 -> {
                for (int i = random.nextInt(4); i >= 0; i--) {
                    commands.add(command(random));
                }
            }
            case 6 -> overDatabases(random, commands);
            case 2, 3, 4, 5 -> commands.add(waitingCommand(random));
            default -> commands.add(command(random));
        }
        if (random.nextInt(12) == 0) {
            int target = random.nextInt(CLIENTS);
            commands.clear();
            if (waiting[target]) {
                commands.add(List.of("CLIENT", "UNBLOCK", "#" + target, one(random, "TIMEOUT", "ERROR")));
            }
        }
        return commands;
    }

    /**
     * Something comes to a key of one database, and another command comes to it from the other one, or without naming
     * it.
     */
    private static void overDatabases(SplittableRandom random, List<List<String>> commands) {
        String key = one(random, KEYS);
        String database = one(random, "0", "1");
        String other = database.equals("0") ? "1" : "0";
        commands.add(List.of("SELECT", database));
        commands.add(List.of(one(random, "LPUSH", "RPUSH"), key, "e" + random.nextInt(100)));
        commands.add(List.of("SELECT", other));
        commands.add(List.of(one(random, "LPUSH", "RPUSH"), key, "e" + random.nextInt(100)));
        if (random.nextBoolean()) {
            commands.add(List.of("SELECT", database));
        } else {
            other = database;
        }
        for (int i = random.nextInt(3); i >= 0; i--) {
            commands.add(switch (random.nextInt(4)) {
                case 0 -> List.of("MOVE", key, other);
                case 1 -> List.of("COPY", key, key, "DB", other, "REPLACE");
                case 2 -> List.of("COPY", one(random, KEYS), key, "DB", other);
                default -> withoutKeys(random);
            });
        }
        commands.add(random.nextInt(3) == 0 ? waitingCommand(random) : withoutKeys(random));
    }

    private static List<String> withoutKeys(SplittableRandom random) {
        return switch (random.nextInt(8)) {
            case 0 -> List.of("KEYS", one(random, KEYS));
            case 1 -> List.of("SCAN", "0", "MATCH", one(random, KEYS), "COUNT", "1000");
            case 2 -> List.of(one(random, "FLUSHDB", "FLUSHALL"));
            default -> List.of("DBSIZE");
        };
    }

    private static List<String> waitingCommand(SplittableRandom random) {
        String key = one(random, KEYS);
        String other = one(random, KEYS);
        return switch (random.nextInt(15)) {
            case 10, 11 -> readGroup(random, "STREAMS", key, ">");
            case 12 -> readGroup(random, "COUNT", one(random, "1", "2"), "STREAMS", key, ">");
            case 13 -> readGroup(random, "STREAMS", key, other, ">", ">");
            case 14 -> List.of("XREAD", "BLOCK", "0", "STREAMS", key, "$");
            case 6, 7 -> List.of(one(random, "BZPOPMIN", "BZPOPMAX"), one(random, key, key, TARGET), "0");
            case 8 -> List.of(one(random, "BZPOPMIN", "BZPOPMAX"), key, other, one(random, key, TARGET), "1000");
            case 9 -> List.of("BZMPOP", "0", "2", key, other, one(random, "MIN", "MAX"), "COUNT",
                    one(random, "1", "2", "9"));
            case 0 -> List.of(one(random, "BLPOP", "BRPOP"), key, "0");
            case 1 -> List.of(one(random, "BLPOP", "BRPOP"), key, other, one(random, KEYS), "1000");
            case 2 -> List.of("BLMOVE", key, other, one(random, ENDS), one(random, ENDS), "0");
            case 3 -> List.of("BRPOPLPUSH", key, other, "0");
            case 4 -> List.of("BLMPOP", "0", "2", key, other, one(random, ENDS), "COUNT", one(random, "1", "2", "9"));
            default -> List.of("BLMPOP", "0", "1", key, one(random, ENDS));
        };
    }

    private static List<String> readGroup(SplittableRandom random, String... rest) {
        List<String> words = new ArrayList<>(List.of("XREADGROUP", "GROUP", one(random, "g", "g", "h"),
                one(random, "c", "d"), "BLOCK", "0"));
        if (random.nextInt(4) == 0) {
            words.add("NOACK");
        }
        words.addAll(List.of(rest));
        return words;
    }

    /**
     * An entry is never deleted right behind its addition: Redis 7.0 then serves a client with nothing, and Redis 7.2
     * does not.
     */
    private static List<String> streamCommand(SplittableRandom random) {
        String key = one(random, KEYS);
        String group = one(random, "g", "g", "h");
        return switch (random.nextInt(14)) {
            case 0, 1, 2, 3, 4 -> List.of("XADD", key, "1-*", "f", "v" + random.nextInt(100));
            case 5 -> List.of("XADD", key, "NOMKSTREAM", "MAXLEN", "2", "1-*", "f", "v");
            case 6, 7, 8 -> List.of("XGROUP", "CREATE", key, group, "$", "MKSTREAM");
            case 9 -> List.of("XGROUP", "DESTROY", key, group);
            case 10 -> List.of("XGROUP", "SETID", key, group, one(random, "$", "0"));
            case 11 -> List.of("XACK", key, group, "1-0", "1-1", "1-2");
            case 12 -> List.of("XPENDING", key, group);
            default -> List.of("XRANGE", key, "-", "+");
        };
    }

    private static List<String> sortedSetCommand(SplittableRandom random) {
        String key = one(random, KEYS);
        String other = one(random, KEYS);
        String member = "m" + random.nextInt(100);
        String score = Integer.toString(random.nextInt(20));
        return switch (random.nextInt(14)) {
            case 0, 1, 2 -> List.of("ZADD", key, score, member);
            case 3, 4 -> List.of("ZADD", key, score, member, "7", member + "b", "-1", member + "c");
            case 5 -> List.of("ZADD", key, one(random, "NX", "XX", "CH"), score, member);
            case 6 -> List.of("ZINCRBY", key, score, member);
            case 7 -> List.of("GEOADD", key, score, "10", member);
            case 8 -> List.of(one(random, "ZPOPMIN", "ZPOPMAX"), key, one(random, "1", "2"));
            case 9 -> List.of("ZREMRANGEBYRANK", key, "0", one(random, "0", "-1"));
            case 10 -> List.of(one(random, "ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE"), TARGET, "2", key, other);
            case 11 -> List.of("ZRANGESTORE", TARGET, key, "0", "-1");
            case 12 -> List.of("RENAME", TARGET, key);
            default -> List.of("ZRANGE", key, "0", "-1", "WITHSCORES");
        };
    }

    private static List<String> command(SplittableRandom random) {
        if (random.nextInt(3) == 0) {
            return random.nextBoolean() ? sortedSetCommand(random) : streamCommand(random);
        }
        String key = one(random, KEYS);
        String other = one(random, KEYS);
        String element = "e" + random.nextInt(100);
        return switch (random.nextInt(24)) {
            case 0, 1, 2, 3 -> List.of(one(random, "LPUSH", "RPUSH"), key, element);
            case 4, 5 -> List.of(one(random, "LPUSH", "RPUSH"), key, element, element + "b", element + "c");
            case 6 -> List.of(one(random, "LPUSHX", "RPUSHX"), key, element);
            case 7 -> List.of("LLEN", key);
            case 8, 9 -> List.of("LRANGE", key, "0", "-1");
            case 10 -> List.of(one(random, "LPOP", "RPOP"), key);
            case 11 -> List.of("LMOVE", key, other, one(random, ENDS), one(random, ENDS));
            case 12 -> List.of("DEL", key);
            case 13 -> List.of("SET", key, element);
            case 14 -> List.of(one(random, "RENAME", "RENAMENX"), key, other);
            case 15 -> List.of("COPY", key, other, "REPLACE");
            case 16 -> List.of("COPY", key, key, "DB", one(random, "0", "1"), "REPLACE");
            case 17 -> List.of("MOVE", key, one(random, "0", "1"));
            case 18 -> SWAP;
            case 19 -> List.of("SELECT", one(random, "0", "0", "1"));
            case 20 -> List.of("EXISTS", "k", "l", "m", "n");
            case 21, 22 -> withoutKeys(random);
            default -> List.of("TYPE", key);
        };
    }
}
