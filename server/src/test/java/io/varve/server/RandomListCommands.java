package io.varve.server;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import static io.varve.server.ScriptStep.Comparison.EXACT;

/**
 * Random commands on lists: every command and option, those that wait too, for as long as it takes to see
 * that nothing comes. Confined to the test thread.
 */
final class RandomListCommands {
    private static final String[] LISTS = {"list", "list2", "a", "b"};
    private static final String[] ELEMENTS = {"e1", "e2", "e3", "", "\r\n\0", "e".repeat(127), "e".repeat(128), "10"};
    private static final String[] ENDS = {"LEFT", "RIGHT", "left", "Right"};
    private static final String[] TIMES = {"0.001", "0.0001", "0.002", "0x0.004p0", "1e-3", "-1", "abc", "", "nan",
            "inf", "1e300", "9223372036854775807", "1e5000", " 1", "-inf"};

    private final RandomWords random;
    private final boolean knows7;
    private final CommandSink sink;
    private final Consumer<ScriptStep> asItIs;

    /** @param knows7 whether the reference has the commands and options that came with Redis 7 */
    RandomListCommands(RandomWords random, boolean knows7, CommandSink sink, Consumer<ScriptStep> asItIs) {
        this.random = random;
        this.knows7 = knows7;
        this.sink = sink;
        this.asItIs = asItIs;
    }

    private void add(String... words) {
        sink.add(EXACT, words);
    }

    /** For commands that would wait long for one more argument. */
    private void addAsIs(String... words) {
        asItIs.accept(ScriptStep.exact(words));
    }

    void any() {
        switch (random.below(25)) {
            case 0, 1, 2, 3 -> add(random.one("LPUSH", "RPUSH"), list(), element());
            case 4, 5 -> pushMany();
            case 6 -> add(random.one("LPUSHX", "RPUSHX"), list(), element(), element());
            case 7, 8 -> add(random.one("LPOP", "RPOP"), list());
            case 9 -> popCount();
            case 10 -> add("LLEN", list());
            case 11, 12 -> add("LRANGE", list(), index(), index());
            case 13 -> add("LINDEX", list(), index());
            case 14 -> add("LSET", list(), index(), element());
            case 15 -> add("LINSERT", list(), random.one("BEFORE", "AFTER", "before", "after", "at"), element(),
                    element());
            case 16 -> add("LREM", list(), negatable(index()), element());
            case 17 -> add("LTRIM", list(), index(), index());
            case 18, 19 -> position();
            case 20 -> move();
            case 21 -> add("RPOPLPUSH", list(), list());
            case 22 -> popFirst();
            default -> waitFor();
        }
    }

    private String list() {
        return random.oneIn(8) ? random.key() : random.one(LISTS);
    }

    private String element() {
        return random.oneIn(4) ? random.value() : random.one(ELEMENTS);
    }

    private String index() {
        return random.oneIn(4) ? random.number() : Integer.toString(random.below(24) - 12);
    }

    /** Later versions than 7.0 refuse the least integer where it is to be negated: {@link IntegerArgumentsDifferentialTest} has it. */
    private static String negatable(String number) {
        return number.equals("-9223372036854775808") ? "-9223372036854775807" : number;
    }

    private String end() {
        return random.oneIn(20) ? random.one("UP", "", "LEFTS") : random.one(ENDS);
    }

    private void pushMany() {
        List<String> words = new ArrayList<>(List.of(random.one("LPUSH", "RPUSH"), list()));
        int elements = random.oneIn(8) ? random.below(600) : random.below(12);
        for (int i = 0; i < elements; i++) {
            words.add(random.oneIn(3) ? random.one(ELEMENTS) : "e" + random.below(20));
        }
        add(words.toArray(String[]::new));
    }

    private void popCount() {
        // Up to 6.0 the count is not known, and up to 7.0 a count of 0 was answered differently.
        if (knows7) {
            add(random.one("LPOP", "RPOP"), list(),
                    random.oneIn(3) ? random.number() : Integer.toString(random.below(9)));
        }
    }

    private void position() {
        if (!knows7) {
            return;
        }
        List<String> words = new ArrayList<>(List.of("LPOS", list(), element()));
        for (int i = random.below(4); i > 0; i--) {
            words.add(random.one("RANK", "COUNT", "MAXLEN", "rank", "count", "maxlen", "RANKS"));
            words.add(negatable(random.oneIn(5) ? random.number() : Integer.toString(random.below(12) - 4)));
        }
        add(words.toArray(String[]::new));
    }

    private void move() {
        if (knows7) {
            add("LMOVE", list(), list(), end(), end());
        }
    }

    private void popFirst() {
        if (!knows7) {
            return;
        }
        List<String> words = new ArrayList<>(List.of("LMPOP"));
        counted(words);
        add(words.toArray(String[]::new));
    }

    private void counted(List<String> words) {
        int keys = 1 + random.below(3);
        words.add(
                random.oneIn(12) ? random.one("0", "-1", "abc", "", "5", "1", "99999999999") : Integer.toString(keys));
        for (int i = 0; i < keys; i++) {
            words.add(list());
        }
        words.add(end());
        if (random.oneIn(2)) {
            words.add(random.one("COUNT", "count", "COUNTS"));
            words.add(random.oneIn(4) ? random.number() : Integer.toString(random.below(7)));
        }
    }

    private String time() {
        return random.oneIn(6) ? random.one(TIMES) : "0.001";
    }

    private void waitFor() {
        switch (random.below(knows7 ? 5 : 2)) {
            case 0 -> addAsIs(random.one("BLPOP", "BRPOP"), list(), list(), time());
            case 1 -> add("BRPOPLPUSH", list(), list(), time());
            case 2 -> addAsIs(random.one("BLPOP", "BRPOP"), list(), list(), list(), list(), time());
            case 3 -> add("BLMOVE", list(), list(), end(), end(), time());
            default -> {
                List<String> words = new ArrayList<>(List.of("BLMPOP", time()));
                counted(words);
                add(words.toArray(String[]::new));
            }
        }
    }
}
