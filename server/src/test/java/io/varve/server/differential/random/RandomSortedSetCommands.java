package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

import static io.varve.server.differential.random.ScriptStep.Comparison.RANDOM_MEMBERS;
import static io.varve.server.differential.random.ScriptStep.Comparison.WHOLE_SCAN;

/**
 * Draws random commands on sorted sets, small ones and some beyond a listpack's limits. Confined to the test's thread.
 *
 * <p>All scores under the key {@code lex} are equal: only then is the reply of a range of members specified.
 */
final class RandomSortedSetCommands extends CommandGenerator {
    static final String[] KEYS = {"z", "z2", "z3"};
    private static final String[] MEMBERS = {"a", "b", "c", "d", "", "\r\n\0", "m".repeat(64), "m".repeat(65), "10",
            "\u00ff", "aa", "ab"};
    private static final String[] SCORES = {"0", "-0", "1", "-1", "1.5", "0.1", "0.2", "-0.3", "3.0e3", "1e17", "1e-17",
            "4611686018427387904", "4611686018427387905", "-4611686018427387904", "9007199254740993",
            "123456789.123456789", "3.14159265358979323846", "1e300", "-1e300", "inf", "-inf", "+inf", "Infinity",
            "0x1p4", "0x10", ".5", "5.", "+2", "1e18", "1e-320", "1.7976931348623157e308", "1e400", "1e-400", "nan",
            "1e", "", " 1", "1 ", "abc", "+-1", "1_0", "99999999999999999999"};
    private static final String[] RANKS = {"0", "1", "-1", "2", "-2", "5", "-5", "100", "-100", "200", "-200",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.5", "abc", "", "01"};
    private static final String[] COUNTS = {"0", "1", "2", "3", "5", "150", "-1", "-3", "-150", "abc", "",
            "9223372036854775807", "-9223372036854775808"};
    private static final String[] LIMITS = {"0", "1", "2", "10", "-1", "-2", "abc", "9223372036854775807"};
    private static final String[] TIMES = {"0.001", "0.001", "0.001", "1e-3", "-1", "abc", "", "nan", "inf"};
    private static final String[] PATTERNS = {"*", "m*", "member1*", "?", "[ab]*", ""};

    RandomSortedSetCommands(Source source) {
        super(source);
    }

    // --- words

    private String key() {
        return oneIn(12) ? draw.key() : one(KEYS);
    }

    private String member() {
        return oneIn(2) ? "member" + random.nextInt(40) : one(MEMBERS);
    }

    private String score() {
        return oneIn(4) ? one(SCORES) : Double.toString(random.nextInt(-40, 40) / 4.0);
    }

    private String scoreBound() {
        return (oneIn(4) ? "(" : "") + (oneIn(4) ? one("-inf", "+inf", "inf", "") : score());
    }

    private String memberBound() {
        return oneIn(4) ? one("-", "+", "[", "(", "a", "", "-x", "+\0") : (oneIn(2) ? "[" : "(") + member();
    }

    // --- commands

    @Override
    void any() {
        switch (random.nextInt(36)) {
            case 0, 1, 2, 3, 4 -> zadd();
            case 5 -> manyMembers();
            case 6, 7 -> add("ZINCRBY", key(), score(), member());
            case 8, 9 -> add("ZREM", key(), member(), member(), member());
            case 10 -> add("ZCARD", key());
            case 11 -> add("ZSCORE", key(), member());
            case 12 -> add("ZMSCORE", key(), member(), member());
            case 13, 14 -> add("ZCOUNT", key(), scoreBound(), scoreBound());
            case 15 -> rank();
            case 16, 17, 18, 19 -> range();
            case 20, 21 -> members();
            case 22 -> removeRange();
            case 23, 24 -> pop();
            case 25, 26, 27, 28, 29 -> several();
            case 30 -> scan();
            case 31 -> randomMembers();
            case 32 -> rangeStore();
            case 33 -> add("OBJECT", "ENCODING", one(KEYS));
            default -> add("ZRANGE", one(KEYS), "0", "-1", "WITHSCORES");
        }
    }

    private void zadd() {
        List<String> words = new ArrayList<>(List.of("ZADD", key()));
        for (int i = oneIn(2) ? 0 : random.nextInt(3); i > 0; i--) {
            words.add(one("NX", "XX", "GT", "LT", "CH", "INCR", "xx", "gt"));
        }
        for (int i = oneIn(3) ? random.nextInt(1, 5) : 1; i > 0; i--) {
            words.add(score());
            words.add(member());
        }
        add(words);
    }

    /** Now and then a set that outgrows the reference's listpack. */
    private void manyMembers() {
        List<String> words = new ArrayList<>(List.of("ZADD", one(KEYS)));
        int members = oneIn(4) ? random.nextInt(120, 200) : random.nextInt(1, 40);
        for (int i = 0; i < members; i++) {
            words.add(oneIn(3) ? score() : Integer.toString(random.nextInt(1000)));
            words.add("member" + (oneIn(4) ? random.nextInt(members) : i));
        }
        add(words);
    }

    /** Without a word too many: 7.2 has an option there. */
    private void rank() {
        addAsIs(one("ZRANK", "ZREVRANK"), key(), member());
    }

    private void range() {
        switch (random.nextInt(6)) {
            case 0 -> add("ZREVRANGE", key(), one(RANKS), one(RANKS));
            case 1 -> add(withOptions(one("ZRANGEBYSCORE", "ZREVRANGEBYSCORE"), key(), scoreBound(), scoreBound()));
            case 2 -> add(withOptions("ZRANGE", key(), scoreBound(), scoreBound(), "BYSCORE"));
            case 3 -> add(withOptions("ZRANGE", key(), scoreBound(), scoreBound(), "REV", "BYSCORE"));
            case 4 -> add("ZRANGE", key(), one(RANKS), one(RANKS), one("REV", "WITHSCORES", "rev", "LIMIT", "foo"));
            default -> add(withOptions("ZRANGE", key(), one(RANKS), one(RANKS)));
        }
    }

    private List<String> withOptions(String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        if (oneIn(2)) {
            all.add(oneIn(2) ? "WITHSCORES" : "withscores");
        }
        if (oneIn(3)) {
            all.addAll(List.of("LIMIT", one(LIMITS), one(LIMITS)));
        }
        if (oneIn(20)) {
            all.add(one("REV", "BYLEX", "BYSCORE", "LIMIT", "foo"));
        }
        return all;
    }

    private void members() {
        switch (random.nextInt(9)) {
            case 0, 1 -> {
                List<String> words = new ArrayList<>(List.of("ZADD", "lex"));
                for (int i = random.nextInt(1, oneIn(8) ? 150 : 6); i > 0; i--) {
                    words.addAll(List.of("0", oneIn(2) ? member() : "member" + random.nextInt(200)));
                }
                add(words);
            }
            case 2 -> add("ZREM", "lex", member(), member());
            case 3 -> add("ZLEXCOUNT", "lex", memberBound(), memberBound());
            case 4 -> add("ZREMRANGEBYLEX", "lex", memberBound(), memberBound());
            case 5 -> add(limited(one("ZRANGEBYLEX", "ZREVRANGEBYLEX"), "lex", memberBound(), memberBound()));
            case 6 -> add(limited("ZRANGE", "lex", memberBound(), memberBound(), "BYLEX"));
            case 7 -> add(limited("ZRANGE", "lex", memberBound(), memberBound(), "BYLEX", "REV"));
            default -> add(limited("ZRANGESTORE", one(KEYS), "lex", memberBound(), memberBound(), "BYLEX"));
        }
    }

    private List<String> limited(String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        if (oneIn(2)) {
            all.addAll(List.of("LIMIT", one(LIMITS), one(LIMITS)));
        }
        if (oneIn(20)) {
            all.add("WITHSCORES");
        }
        return all;
    }

    private void removeRange() {
        if (oneIn(2)) {
            add("ZREMRANGEBYRANK", key(), one(RANKS), one(RANKS));
        } else {
            add("ZREMRANGEBYSCORE", key(), scoreBound(), scoreBound());
        }
    }

    private void pop() {
        switch (random.nextInt(5)) {
            case 0 -> add(one("ZPOPMIN", "ZPOPMAX"), key());
            case 1 -> add(one("ZPOPMIN", "ZPOPMAX"), key(), one(COUNTS));
            case 2 -> addAsIs(
                    ScriptStep.exact(one("BZPOPMIN", "BZPOPMAX", "bzpopmin"), key(), one(KEYS), key(), one(TIMES)));
            default -> {
                if (knows7) {
                    List<String> words = oneIn(2) ? numbered("ZMPOP") : numbered("BZMPOP", one(TIMES));
                    words.add(one("MIN", "MAX", "min", "foo"));
                    if (oneIn(2)) {
                        words.addAll(List.of("COUNT", one(COUNTS)));
                    }
                    add(words);
                }
            }
        }
    }

    /** A command's name and some keys, behind how many they are; now and then that is wrong. */
    private List<String> numbered(String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        int keys = random.nextInt(1, 5);
        all.add(oneIn(25) ? one("0", "-1", "abc", "100", "", "9223372036854775807") : Integer.toString(keys));
        for (int i = 0; i < keys; i++) {
            all.add(oneIn(25) ? draw.key() : one("z", "z2", "z3", "lex", "none"));
        }
        return all;
    }

    private void several() {
        String operation = one("ZUNION", "ZINTER", "ZDIFF");
        List<String> words;
        if (knows7 && oneIn(6)) {
            words = numbered("ZINTERCARD");
            if (oneIn(2)) {
                words.addAll(List.of("LIMIT", one(LIMITS)));
            }
        } else if (oneIn(2)) {
            words = numbered(operation + "STORE", one(KEYS));
            aggregated(words, words.size() - 3);
        } else {
            words = numbered(operation);
            aggregated(words, words.size() - 2);
            if (oneIn(2)) {
                words.add("WITHSCORES");
            }
        }
        add(words);
    }

    private void aggregated(List<String> words, int keys) {
        if (words.getFirst().startsWith("ZDIFF") && !oneIn(20)) {
            return;
        }
        if (oneIn(2)) {
            words.add("WEIGHTS");
            for (int i = 0; i < keys; i++) {
                words.add(oneIn(3) ? one(SCORES) : Integer.toString(random.nextInt(-3, 4)));
            }
        }
        if (oneIn(2)) {
            words.addAll(List.of("AGGREGATE", one("SUM", "MIN", "MAX", "sum", "MIN", "MAX", "AVG")));
        }
    }

    private void scan() {
        switch (random.nextInt(4)) {
            case 0 -> sink.add(WHOLE_SCAN, "ZSCAN", key(), "0");
            case 1 -> sink.add(WHOLE_SCAN, "ZSCAN", key(), "0", "COUNT", one("1", "7", "1000", "0", "abc"));
            case 2 -> sink.add(WHOLE_SCAN, "ZSCAN", key(), "0", "MATCH", one(PATTERNS));
            default -> sink.add(WHOLE_SCAN, "ZSCAN", key(), one("abc", "", "-"), one("COUNT", "TYPE"), "1");
        }
    }

    private void randomMembers() {
        String key = key();
        switch (random.nextInt(4)) {
            case 0 -> sink.add(RANDOM_MEMBERS, "ZRANDMEMBER", key);
            case 1 -> sink.add(RANDOM_MEMBERS, "ZRANDMEMBER", key, one("0", "1", "5", "50", "700", "-1", "-20", "abc"));
            case 2 -> sink.add(RANDOM_MEMBERS, "ZRANDMEMBER", key, one("1", "3", "60", "700", "-30"), "WITHSCORES");
            // Two words behind the count: without the last it is still none that is answered.
            default -> sink.add(RANDOM_MEMBERS, "ZRANDMEMBER", key,
                    one("-9223372036854775807", "9223372036854775807", "-9223372036854775808"),
                    one("WITHSCORES", "foo"), one("foo", "WITHSCORES"));
        }
    }

    private void rangeStore() {
        String to = one(KEYS);
        switch (random.nextInt(3)) {
            case 0 -> add("ZRANGESTORE", to, key(), one(RANKS), one(RANKS));
            case 1 -> add("ZRANGESTORE", to, key(), one(RANKS), one(RANKS), one("REV", "WITHSCORES"));
            default -> add(limited("ZRANGESTORE", to, key(), scoreBound(), scoreBound(), "BYSCORE"));
        }
    }
}
