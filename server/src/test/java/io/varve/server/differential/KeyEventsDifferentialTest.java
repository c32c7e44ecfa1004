package io.varve.server.differential;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the keyspace notifications ({@code notify-keyspace-events}) of Varve and of a real Redis after each of many
 * commands: they must be equal and in equal order. Confined to the test's thread.
 *
 * <p>{@code -Dvarve.differential.events=N} sets the number of random commands, {@code -Dvarve.differential.seed=N}
 * repeats a run.
 */
class KeyEventsDifferentialTest {
    private static final long COMMANDS = TestBudget.of("varve.differential.events", 6_000, 100_000);
    private static final int SCRIPT_COMMANDS = 400;
    /** All events except those of expiry, which each server publishes in its own time, and of eviction. */
    private static final String ALL_BUT_EXPIRED = "KEg$lshztdnm";
    private static final String END = "the end of the events";
    /**
     * Commands beyond those of the keyspace counts: on {@code l}, {@code l2} (lists) and {@code e} (a string that
     * expires).
     */
    private static final String MORE_COMMANDS = """
            LPUSH l x, RPUSH l x y, LPUSH m x, RPUSH m x, LPUSHX m x, RPUSHX l x, LPUSH s x, LPOP l, RPOP l, LPOP m
            LPOP l 3, RPOP l 9, LPOP l 0, LINSERT l BEFORE b x, LINSERT l AFTER zz x, LSET l 0 x, LSET l 9 x
            LREM l 0 b, LREM l 0 zz, LREM l2 0 q, LTRIM l 0 -1, LTRIM l 1 1, LTRIM l 5 9, LTRIM m 0 1
            LMOVE l l2 LEFT RIGHT, LMOVE l l LEFT RIGHT, LMOVE l2 m RIGHT LEFT, LMOVE m l LEFT LEFT, LMOVE l s LEFT LEFT
            RPOPLPUSH l l2, RPOPLPUSH l2 l2, RPOPLPUSH l2 l, LMPOP 2 m l LEFT, LMPOP 1 l RIGHT COUNT 9, LMPOP 1 m LEFT
            BLPOP l 0, BRPOP l2 0, BLMOVE l2 l LEFT LEFT 0, BRPOPLPUSH l l2 0, BLMPOP 0 1 l LEFT COUNT 3, LRANGE m 0 1
            LLEN m, LINDEX m 0, LPOS m x, PERSIST e, EXPIRE e -1, SET e v, SET e v KEEPTTL, SET m v EX 100
            SET s v PXAT 99999999999999, SETEX m 10 v, GETEX e PERSIST, GETEX e EXAT 1, RENAME e m, RENAME s e, RENAMENX e m
            RENAME s s, RENAMENX s s, COPY e m, COPY e s REPLACE, COPY e m DB 1, MOVE e 1, SMOVE t t 1, SMOVE t u 3
            SREM u 3 x, SREM t 1 9, SPOP t 3, SPOP t 0, SADD t 1, SINTERSTORE t t u, SINTERSTORE u m t, SDIFFSTORE e t u
            SINTERSTORE m t nothing, HDEL h f c, HDEL h f zz, HSET h f 1, HINCRBY h f 9223372036854775807, ZADD z XX 5 q
            ZADD z 1 a, ZADD z CH 7 a, ZADD z INCR 1 a, ZADD m INCR 1 a, ZADD z NX INCR 1 a, ZINCRBY z 0 a, ZREM z a b
            ZREMRANGEBYRANK z 0 -1, ZREMRANGEBYSCORE z 5 6, ZREMRANGEBYLEX z2 - +, ZPOPMIN z 9, ZPOPMAX z, ZPOPMIN z 0
            ZMPOP 1 z MAX COUNT 9, ZUNIONSTORE e 1 z, ZINTERSTORE z 2 z m, ZDIFFSTORE z 2 z z, ZRANGESTORE e z 5 6
            GEORADIUS g 1 1 1 km STORE e, GEORADIUS m 1 1 1 km STORE e, GEOSEARCHSTORE m g FROMMEMBER a BYRADIUS 1 km
            GEOADD g XX 5 5 a, GEOADD g 7 7 c, SETBIT s 1 1, SETBIT m 1 0, BITOP AND m nothing nothing2, BITOP AND s nothing
            BITFIELD s GET u8 0 SET u8 0 200, BITFIELD s SET u8 0 49, BITFIELD s INCRBY u2 0 1 OVERFLOW FAIL INCRBY u1 0 9
            SETRANGE s 0 a, SETRANGE m 3 a, SETRANGE s 0 12, APPEND m x, PFADD b a, PFADD b c, PFADD m, PFMERGE m, PFMERGE b m
            MSET m 1 m 2, MSETNX m 1 m 2, DEL s s m, FLUSHALL, FLUSHDB, SWAPDB 0 1, INCRBYFLOAT n 1.5, GETDEL e
            SORT u STORE m, SORT u STORE e, SORT nothing STORE m, SORT nothing STORE e, SORT l ALPHA STORE l
            BZPOPMIN z 0, BZPOPMAX z 0, BZMPOP 0 1 z MIN, BZMPOP 0 2 m z MAX COUNT 9""";

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 64mb",
            "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);

    /** One server with a client that sends commands, and one that receives events. Confined to the test's thread. */
    private static final class Side implements AutoCloseable {
        private final RawClient client;
        private final RawClient listener;
        /** The client may be in the middle of a transaction. */
        private final RawClient publisher;
        private RawReply reply = new RawReply('_', "", List.of());

        Side(int port, String selection) throws IOException {
            client = new RawClient(port);
            listener = new RawClient(port);
            publisher = new RawClient(port);
            assertThat(client.call("CONFIG", "SET", "notify-keyspace-events", selection).text()).isEqualTo("OK");
            listener.call("PSUBSCRIBE", "__key*__:*");
            listener.call("SUBSCRIBE", END);
        }

        /** Sends a command; returns the events until then. */
        List<String> events(List<byte[]> command) throws IOException {
            reply = client.call(command);
            publisher.call("PUBLISH", END, "");
            List<String> reported = new ArrayList<>();
            while (true) {
                List<RawReply> message = listener.read().elements();
                if (message.get(1).text().equals(END)) {
                    return reported;
                }
                reported.add(message.get(2).text() + " " + message.get(3).text());
            }
        }

        List<String> events(String command) throws IOException {
            return events(ScriptStep.exact(command.split(" ")).bytes());
        }

        @Override
        public void close() throws IOException {
            client.close();
            listener.close();
            publisher.close();
        }
    }

    @Test
    void eachCommandEmitsTheEventsOfRedis() throws IOException {
        List<String> expected = new ArrayList<>();
        List<String> actual = new ArrayList<>();
        try (Side theirs = new Side(varve.reference().port(), ALL_BUT_EXPIRED);
                Side ours = new Side(varve.port(), ALL_BUT_EXPIRED)) {
            for (String command : (KeyspaceCountsDifferentialTest.ALL_COMMANDS + "\n" + MORE_COMMANDS)
                    .split(",\\s*|\n\\s*")) {
                prepare(theirs);
                prepare(ours);
                expected.add(command + ": " + theirs.events(command));
                actual.add(command + ": " + ours.events(command));
            }
        }
        assertThat(expected).hasSizeGreaterThan(300).anyMatch(reported -> reported.contains("georadiusstore"));
        assertThat(String.join("\n", actual)).isEqualTo(String.join("\n", expected));
    }

    private static void prepare(Side side) throws IOException {
        KeyspaceCountsDifferentialTest.prepare(side.client);
        side.client.call("RPUSH", "l", "a", "b", "b", "c");
        side.client.call("RPUSH", "l2", "q");
        side.events("SET e v EX 1000");
    }

    @Test
    void randomCommandsEmitTheEventsOfRedis() throws IOException {
        long seed = TestBudget.seed("varve.differential.seed");
        System.out.println("KeyEventsDifferentialTest compares with " + varve.reference() + ", seed " + seed);
        SplittableRandom seeds = new SplittableRandom(seed);
        for (long sent = 0; sent < COMMANDS; sent += SCRIPT_COMMANDS) {
            long scriptSeed = seeds.nextLong();
            List<ScriptStep> script = new RandomCommands(scriptSeed, varve.reference().isAtLeast(7))
                    .script(SCRIPT_COMMANDS)
                    .stream().filter(step -> step.comparison() != ScriptStep.Comparison.RANDOM_POP
                            && step.comparison() != ScriptStep.Comparison.PUSHES)
                    .toList();
            try (Side theirs = new Side(varve.reference().port(), ALL_BUT_EXPIRED);
                    Side ours = new Side(varve.port(), ALL_BUT_EXPIRED)) {
                theirs.events("FLUSHALL");
                ours.events("FLUSHALL");
                for (ScriptStep step : script) {
                    List<String> reported = inOrder(step, ours.events(step.bytes()));
                    List<String> expected = inOrder(step, theirs.events(step.bytes()));
                    assertThat(reported)
                            .as("%s, seed %d, answered %s and %s", step, scriptSeed, ours.reply, theirs.reply)
                            .isEqualTo(expected);
                }
            }
        }
    }

    /** SORT fetches the keys that it makes of a set's elements in the order of these, which is unspecified. */
    private static List<String> inOrder(ScriptStep step, List<String> reported) {
        String name = new String(step.bytes().getFirst(), StandardCharsets.UTF_8).toUpperCase(Locale.ROOT);
        return name.startsWith("SORT") || name.equals("EXEC") ? reported.stream().sorted().toList() : reported;
    }

    /** The events of a transaction's commands come in their order, whatever their shards. */
    @Test
    void transactionsEmitEventsInCommandOrder() throws IOException {
        try (Side theirs = new Side(varve.reference().port(), ALL_BUT_EXPIRED);
                Side ours = new Side(varve.port(), ALL_BUT_EXPIRED)) {
            for (Side side : List.of(theirs, ours)) {
                side.events("FLUSHALL");
                side.client.call("MULTI");
                for (int i = 0; i < 50; i++) {
                    side.client.call("RPUSH", "list" + i % 7, "x");
                    side.client.call("LMOVE", "list" + i % 7, "list" + i % 5, "LEFT", "RIGHT");
                }
            }
            assertThat(ours.events("EXEC")).hasSizeGreaterThan(300).isEqualTo(theirs.events("EXEC"));
        }
    }

    @Test
    void theSelectionIsShownAsRedisShowsIt() throws IOException {
        SplittableRandom random = new SplittableRandom(7);
        try (RawClient theirs = new RawClient(varve.reference().port()); RawClient ours = new RawClient(varve.port())) {
            for (int i = 0; i < 300; i++) {
                StringBuilder letters = new StringBuilder();
                for (int length = random.nextInt(9); length > 0; length--) {
                    // Beside A the varve.reference() does not show n, and so loses it when it rewrites its file.
                    letters.append("KEAg$lshzxetdm".charAt(random.nextInt(14)));
                }
                if (i % 20 == 0) {
                    letters.append('q');
                }
                String[] set = {"CONFIG", "SET", "notify-keyspace-events", letters.toString()};
                assertThat(ours.call(set)).isEqualTo(theirs.call(set));
                String[] get = {"CONFIG", "GET", "notify-keyspace-events"};
                assertThat(ours.call(get)).as(letters.toString()).isEqualTo(theirs.call(get));
            }
            ours.call("CONFIG", "SET", "notify-keyspace-events", "KnA");
            assertThat(ours.call("CONFIG", "GET", "notify-keyspace-events").elements().get(1).text()).isEqualTo("AnK");
        }
    }
}
