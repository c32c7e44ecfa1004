package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.differential.random.ScriptStep;
import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Sends random commands on collections of some ten thousand elements to Varve and to a real Redis: the replies must be
 * equal. Confined to the test's thread. {@code -Dvarve.differential.seed=N} repeats a run.
 */
class LargeCollectionsDifferentialTest {
    private static final int ELEMENTS = 20_000;
    private static final int PIECE = 500;
    private static final int COMMANDS = TestBudget.ofInt("varve.differential.large-collections", 1_000, 20_000);

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 256mb",
            "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);

    private final long seed = TestBudget.seed("varve.differential.seed");
    private final SplittableRandom random = new SplittableRandom(seed);
    private final List<ScriptStep> script = new ArrayList<>();

    private void add(String... words) {
        script.add(ScriptStep.exact(words));
    }

    private String one(String... words) {
        return words[random.nextInt(words.length)];
    }

    private String number(int bound) {
        return Integer.toString(random.nextInt(bound));
    }

    private void assertThatRepliesAreTheSame() throws IOException {
        DifferentialRun.Difference difference = new DifferentialRun(varve.port(), varve.reference().port(), 3)
                .run(script);
        if (difference != null) {
            Assertions.fail("seed " + seed + ", step " + difference.step() + " " + script.get(difference.step()) + "\n"
                    + difference.what());
        }
    }

    @Test
    void lists() throws IOException {
        for (int i = 0; i < ELEMENTS; i += PIECE) {
            push(one("l", "m"), PIECE);
        }
        for (int i = 0; i < COMMANDS; i++) {
            listCommand(one("l", "l", "m"));
        }
        add("LRANGE", "l", "0", "-1");
        add("LRANGE", "m", "0", "-1");
        assertThatRepliesAreTheSame();
    }

    private void push(String list, int count) {
        List<String> words = new ArrayList<>(List.of(one("LPUSH", "RPUSH"), list));
        for (int i = 0; i < count; i++) {
            words.add(element());
        }
        add(words.toArray(String[]::new));
    }

    /** Some come often; some need more than one byte for their length, a few a leaf of their own. */
    private String element() {
        return switch (random.nextInt(50)) {
            case 0 -> "e".repeat(random.nextInt(200));
            case 1 -> random.nextInt(20) == 0 ? "e".repeat(random.nextInt(3000)) : "";
            default -> "e" + random.nextInt(2_000);
        };
    }

    private String index() {
        return Integer.toString(random.nextInt(ELEMENTS * 2) - ELEMENTS);
    }

    private void listCommand(String list) {
        String other = one("l", "m");
        switch (random.nextInt(20)) {
            case 0, 1 -> push(list, random.nextInt(1, 4));
            case 2 -> push(list, random.nextInt(1, 300));
            case 3 -> add(one("LPOP", "RPOP"), list);
            case 4 -> add(one("LPOP", "RPOP"), list, number(300));
            case 5, 6 -> add("LINDEX", list, index());
            case 7 -> {
                int from = random.nextInt(ELEMENTS);
                add("LRANGE", list, Integer.toString(from), Integer.toString(from + random.nextInt(300)));
            }
            case 8 -> add("LRANGE", list, "-" + number(300), "-1");
            case 9, 10 -> add("LSET", list, index(), element());
            case 11, 12 -> add("LINSERT", list, one("BEFORE", "AFTER"), element(), element());
            case 13 -> add("LREM", list, Integer.toString(random.nextInt(9) - 4), element());
            case 14 -> add("LPOS", list, element(), "RANK", one("1", "2", "-1", "-3"), "COUNT", number(5));
            case 15 -> add("LMOVE", list, other, one("LEFT", "RIGHT"), one("LEFT", "RIGHT"));
            case 16 -> add("LMPOP", "2", list, other, one("LEFT", "RIGHT"), "COUNT", number(50) + "1");
            case 17 -> add("BLMOVE", list, other, one("LEFT", "RIGHT"), one("LEFT", "RIGHT"), "0.01");
            case 18 -> add("LTRIM", list, number(100), "-" + (1 + random.nextInt(100)));
            default -> {
                add("LLEN", list);
                add("COPY", list, "copy", "REPLACE");
                add("RPOP", "copy");
                add("RENAME", "copy", one("copy2", "l2"));
            }
        }
    }

    @Test
    void hashes() throws IOException {
        for (int i = 0; i < ELEMENTS; i += PIECE) {
            setFields(one("h", "i"), PIECE);
        }
        for (int i = 0; i < COMMANDS; i++) {
            hashCommand(one("h", "i"));
        }
        for (String hash : new String[] {"h", "i", "copy"}) {
            for (String all : new String[] {"HGETALL", "HKEYS", "HVALS"}) {
                script.add(new ScriptStep(ScriptStep.Comparison.ANY_ORDER, List.of(all, hash)));
            }
            script.add(new ScriptStep(ScriptStep.Comparison.WHOLE_SCAN, List.of("HSCAN", hash, "0", "COUNT", "100")));
        }
        assertThatRepliesAreTheSame();
    }

    private void setFields(String hash, int count) {
        List<String> words = new ArrayList<>(List.of(one("HSET", "HMSET"), hash));
        for (int i = 0; i < count; i++) {
            words.add(member());
            words.add(random.nextInt(50) == 0 ? element() : number(100_000));
        }
        add(words.toArray(String[]::new));
    }

    private void hashCommand(String hash) {
        switch (random.nextInt(16)) {
            case 0, 1, 2 -> setFields(hash, 1);
            case 3 -> setFields(hash, random.nextInt(2, 300));
            case 4 -> add("HSETNX", hash, member(), number(100));
            case 5, 6 -> add("HGET", hash, member());
            case 7 -> add("HMGET", hash, member(), member(), member());
            case 8, 9 -> add("HDEL", hash, member());
            case 10 -> {
                List<String> words = new ArrayList<>(List.of("HDEL", hash));
                for (int i = random.nextInt(600); i >= 0; i--) {
                    words.add(member());
                }
                add(words.toArray(String[]::new));
            }
            case 11 -> add("HINCRBY", hash, member(), number(1000));
            case 12 -> add("HINCRBYFLOAT", hash, member(), "0.25");
            case 13 -> add(one("HEXISTS", "HSTRLEN"), hash, member());
            case 14 -> script.add(new ScriptStep(ScriptStep.Comparison.RANDOM_FIELDS,
                    List.of("HRANDFIELD", hash, one("1", "7", "-30", "300"), "WITHVALUES")));
            default -> {
                add("HLEN", hash);
                add("OBJECT", "ENCODING", hash);
                add("COPY", hash, "copy", "REPLACE");
                add("HDEL", "copy", member(), member());
                add("HLEN", "copy");
            }
        }
    }

    @Test
    void sets() throws IOException {
        for (int i = 0; i < ELEMENTS; i += PIECE) {
            addToSet(one("s", "t"), PIECE);
        }
        for (int i = 0; i < COMMANDS; i++) {
            setCommand(one("s", "t", "small", "numbers"));
        }
        for (String set : new String[] {"s", "t", "small", "numbers", "result"}) {
            script.add(new ScriptStep(ScriptStep.Comparison.ANY_ORDER, List.of("SMEMBERS", set)));
            script.add(new ScriptStep(ScriptStep.Comparison.WHOLE_SCAN, List.of("SSCAN", set, "0", "COUNT", "100")));
        }
        assertThatRepliesAreTheSame();
    }

    private String setMember(String set) {
        return set.equals("numbers") || random.nextInt(10) == 0 ? number(ELEMENTS) : member();
    }

    private void addToSet(String set, int count) {
        List<String> words = new ArrayList<>(List.of("SADD", set));
        for (int i = 0; i < count; i++) {
            words.add(setMember(set));
        }
        add(words.toArray(String[]::new));
    }

    private void setCommand(String set) {
        String other = one("s", "t", "small", "numbers");
        String third = one("s", "t", "small", "numbers");
        switch (random.nextInt(18)) {
            case 0, 1, 2 -> addToSet(set, 1);
            case 3 -> addToSet(set, random.nextInt(2, 300));
            case 4, 5 -> add("SREM", set, setMember(set), setMember(set));
            case 6 -> add("SISMEMBER", set, setMember(set));
            case 7 -> add("SMISMEMBER", set, setMember(set), setMember(set), setMember(set));
            case 8, 9 -> add("SMOVE", set, other, setMember(set));
            case 10 -> script.add(new ScriptStep(ScriptStep.Comparison.RANDOM_SET_MEMBERS,
                    List.of("SRANDMEMBER", set, one("1", "7", "-30", "300"))));
            case 11 -> script.add(new ScriptStep(ScriptStep.Comparison.RANDOM_POP,
                    List.of("SPOP", one("small", "numbers"), one("1", "3", "50"))));
            case 12 -> add("SINTERCARD", "2", set, other, "LIMIT", number(50));
            case 13 -> add("SCARD", set);
            case 14 -> {
                add(one("SINTERSTORE", "SDIFFSTORE"), "result", set, other, third);
                add("OBJECT", "ENCODING", "result");
                add("SUNIONSTORE", "union", set, other);
                add("SCARD", "union");
            }
            case 15 -> script.add(new ScriptStep(ScriptStep.Comparison.ANY_ORDER,
                    List.of(one("SINTER", "SDIFF"), set, other, "numbers")));
            case 16 -> {
                add("SDIFFSTORE", "result", set, "small", "numbers", "none", "result", "result");
                add("SUNIONSTORE", "result", "result", "small", "numbers", "none", "small");
                add("OBJECT", "ENCODING", "result");
            }
            default -> {
                add("OBJECT", "ENCODING", set);
                add("COPY", set, "copy", "REPLACE");
                add("SREM", "copy", setMember(set), setMember(set));
                add("SCARD", "copy");
            }
        }
    }

    @Test
    void sortedSets() throws IOException {
        for (int i = 0; i < ELEMENTS; i += PIECE) {
            addMembers(one("y", "z"), PIECE);
            addMembers("lex", PIECE);
        }
        for (int i = 0; i < COMMANDS; i++) {
            sortedSetCommand(one("y", "z", "z"));
        }
        for (String set : new String[] {"y", "z", "lex"}) {
            add("ZRANGE", set, "0", "-1", "WITHSCORES");
            script.add(new ScriptStep(ScriptStep.Comparison.WHOLE_SCAN, List.of("ZSCAN", set, "0", "COUNT", "100")));
        }
        assertThatRepliesAreTheSame();
    }

    private void addMembers(String set, int count) {
        List<String> words = new ArrayList<>(List.of("ZADD", set));
        for (int i = 0; i < count; i++) {
            words.add(set.equals("lex") ? "0" : score());
            words.add(member());
        }
        add(words.toArray(String[]::new));
    }

    private String member() {
        return random.nextInt(100) == 0 ? "m".repeat(random.nextInt(300)) : "m" + random.nextInt(2 * ELEMENTS);
    }

    /** Many are equal. */
    private String score() {
        return Double.toString(random.nextInt(4_000) / 4.0 - 500);
    }

    private void sortedSetCommand(String set) {
        String other = one("y", "z");
        int rank = random.nextInt(ELEMENTS);
        switch (random.nextInt(24)) {
            case 0, 1 -> addMembers(set, random.nextInt(1, 4));
            case 2 -> addMembers(set, random.nextInt(1, 300));
            case 3 -> add("ZINCRBY", set, score(), member());
            case 4 -> add("ZREM", set, member(), member(), member());
            case 5 -> add("ZMSCORE", set, member(), member());
            case 6 -> add(one("ZRANK", "ZREVRANK"), set, member());
            case 7 -> add("ZCOUNT", set, "(" + score(), score());
            case 8 -> add("ZRANGE", set, Integer.toString(rank), Integer.toString(rank + random.nextInt(200)),
                    "WITHSCORES");
            case 9 -> add("ZREVRANGE", set, Integer.toString(rank), Integer.toString(rank + random.nextInt(200)));
            case 10 -> add("ZRANGEBYSCORE", set, score(), "+inf", "LIMIT", number(500), number(100));
            case 11 -> add("ZREVRANGEBYSCORE", set, "(" + score(), "-inf", "WITHSCORES", "LIMIT", "0", number(100));
            case 12 -> add(one("ZPOPMIN", "ZPOPMAX"), set);
            case 13 -> add(one("ZPOPMIN", "ZPOPMAX"), set, number(200));
            case 14 -> add("ZREMRANGEBYRANK", set, Integer.toString(rank), Integer.toString(rank + random.nextInt(50)));
            case 15 -> {
                int score = random.nextInt(1_000) - 500;
                add("ZREMRANGEBYSCORE", set, Integer.toString(score), "(" + (score + 2));
            }
            case 16 -> add("ZADD", set, one("GT", "LT", "XX", "NX"), "CH", score(), member(), score(), member());
            case 17 -> add("ZLEXCOUNT", "lex", "[" + member(), "(" + member());
            case 18 -> add("ZRANGE", "lex", "(" + member(), "+", "BYLEX", "LIMIT", number(300), number(50));
            case 19 -> {
                String from = "m" + random.nextInt(10_000, 30_000);
                add("ZREMRANGEBYLEX", "lex", "[" + from, "[" + from + "9");
                addMembers("lex", 5);
            }
            case 20 -> add("ZMPOP", "2", set, other, one("MIN", "MAX"), "COUNT", "1" + number(50));
            case 21 -> {
                add("ZRANGESTORE", "part", set, number(100), "-" + number(100));
                add("ZCARD", "part");
                add("RENAME", "part", "other");
            }
            case 22 -> add("ZINTERCARD", "2", set, "lex");
            default -> {
                add(one("ZUNIONSTORE", "ZINTERSTORE"), "result", "2", set, other, "AGGREGATE",
                        one("SUM", "MIN", "MAX"));
                add("ZDIFFSTORE", "difference", "2", "lex", set);
                add("ZRANGE", "result", number(300), number(300), "WITHSCORES");
                add("ZCARD", "difference");
            }
        }
    }
}
