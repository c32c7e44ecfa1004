package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import static io.varve.server.differential.random.ScriptStep.Comparison.ANY_ORDER;
import static io.varve.server.differential.random.ScriptStep.Comparison.RANDOM_POP;
import static io.varve.server.differential.random.ScriptStep.Comparison.RANDOM_SET_MEMBERS;
import static io.varve.server.differential.random.ScriptStep.Comparison.WHOLE_SCAN;

/**
 * Draws random commands on sets: small ones, of integers and of any members, and some beyond an intset's limits.
 * Confined to the test's thread.
 */
final class RandomSetCommands extends CommandGenerator {
    static final String[] KEYS = {"set", "set2", "set3"};
    private static final String[] MEMBERS = {"a", "b", "c", "", "\r\n\0", "m".repeat(64), "m".repeat(65), "\u00ff",
            "01",
            "-0", "+1", "1.5", " 1", "9223372036854775808", "-9223372036854775809"};
    private static final String[] INTEGERS = {"0", "1", "-1", "2", "10", "-100", "32767", "32768", "-32768", "-32769",
            "65536", "2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807",
            "-9223372036854775808"};
    private static final String[] COUNTS = {"0", "1", "2", "3", "5", "600", "abc", "", "1.5", "9223372036854775807",
            "-9223372036854775808", "9223372036854775808", "-1"};
    private static final String[] PATTERNS = {"*", "m*", "member1*", "?", "[0-5]*", ""};

    RandomSetCommands(Source source) {
        super(source);
    }

    private String key() {
        return oneIn(4) ? draw.key() : one(KEYS);
    }

    private String member() {
        return switch (random.nextInt(6)) {
            case 0 -> one(MEMBERS);
            case 1 -> "member" + random.nextInt(30);
            case 2 -> one(INTEGERS);
            default -> Integer.toString(random.nextInt(-20, 60));
        };
    }

    /** A name, some keys or members, and nothing else. */
    private String[] words(String first, int count, Supplier<String> each) {
        List<String> words = new ArrayList<>(List.of(first.split(" ")));
        for (int i = 0; i < count; i++) {
            words.add(each.get());
        }
        return words.toArray(String[]::new);
    }

    @Override
    void any() {
        switch (random.nextInt(24)) {
            case 0, 1, 2 -> add(words("SADD " + one(KEYS), 1 + random.nextInt(4), this::member));
            case 3 -> add("SADD", key(), member(), member());
            case 4 -> many();
            case 5, 6 -> add("SREM", key(), member(), member());
            case 7 -> add("SCARD", key());
            case 8 -> add("SISMEMBER", key(), member());
            case 9 -> add("SMISMEMBER", key(), member(), member(), member());
            case 10 -> sink.add(ANY_ORDER, "SMEMBERS", key());
            case 11, 12 -> add("SMOVE", key(), key(), member());
            case 13, 14 -> sink.add(ANY_ORDER,
                    words(one("SINTER", "SUNION", "SDIFF"), 1 + random.nextInt(3), this::key));
            case 15, 16, 17 -> add(words(one("SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"), 2 + random.nextInt(3),
                    this::key));
            case 18 -> intercard();
            case 19 -> randomMembers();
            case 20 -> pop();
            case 21 -> scan();
            default -> add("OBJECT", "ENCODING", one(KEYS));
        }
    }

    /** Now and then a set that outgrows the reference's intset, or is made to lose most of what it has. */
    private void many() {
        int members = oneIn(3) ? random.nextInt(500, 600) : random.nextInt(40);
        boolean text = oneIn(4);
        List<String> words = new ArrayList<>(List.of(oneIn(4) ? "SREM" : "SADD", one(KEYS)));
        int from = random.nextInt(-5, 5);
        for (int i = 0; i < members; i++) {
            words.add((text ? "member" : "") + (from + (oneIn(8) ? random.nextInt(1 + members) : i)));
        }
        add(words.toArray(String[]::new));
    }

    private void intercard() {
        switch (random.nextInt(4)) {
            case 0 -> add("SINTERCARD", "2", key(), key());
            case 1 -> add("SINTERCARD", one("1", "2", "3"), key(), key(), "LIMIT", one(COUNTS));
            case 2 -> add("SINTERCARD", one("0", "-1", "abc", "3", "9223372036854775807", "1.5"), key(), key());
            default -> add("SINTERCARD", "1", key(), one("LIMIT", "limit", "foo"), one(COUNTS), one("LIMIT", "", "1"),
                    "1");
        }
    }

    private void randomMembers() {
        switch (random.nextInt(4)) {
            case 0 -> sink.add(RANDOM_SET_MEMBERS, "SRANDMEMBER", key());
            case 1 -> sink.add(RANDOM_SET_MEMBERS, "SRANDMEMBER", key(), one("-1", "-5", "-20", "-700"));
            default -> sink.add(RANDOM_SET_MEMBERS, "SRANDMEMBER", key(), one(COUNTS));
        }
    }

    private void pop() {
        if (oneIn(3)) {
            sink.add(RANDOM_POP, "SPOP", key());
        } else {
            sink.add(RANDOM_POP, "SPOP", key(), one(COUNTS));
        }
    }

    private void scan() {
        switch (random.nextInt(4)) {
            case 0 -> sink.add(WHOLE_SCAN, "SSCAN", key(), "0");
            case 1 -> sink.add(WHOLE_SCAN, "SSCAN", key(), "0", "COUNT", one("1", "7", "1000", "0", "abc"));
            case 2 -> sink.add(WHOLE_SCAN, "SSCAN", key(), "0", "MATCH", one(PATTERNS), "COUNT", "50");
            default -> sink.add(WHOLE_SCAN, "SSCAN", key(), one("abc", "", "-", "1.5"), one("COUNT", "TYPE"), "1");
        }
    }
}
