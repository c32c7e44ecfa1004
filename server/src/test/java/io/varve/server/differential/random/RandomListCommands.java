package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

/**
 * Draws random commands on lists, with every command and option, including blocking ones, which time out. Confined to
 * the test's thread.
 */
final class RandomListCommands extends CommandGenerator {
    private static final String[] LISTS = {"list", "list2", "a", "b"};
    private static final String[] ELEMENTS = {"e1", "e2", "e3", "", "\r\n\0", "e".repeat(127), "e".repeat(128), "10"};
    private static final String[] ENDS = {"LEFT", "RIGHT", "left", "Right"};
    private static final String[] TIMES = {"0.001", "0.0001", "0.002", "0x0.004p0", "1e-3", "-1", "abc", "", "nan",
            "inf", "1e300", "9223372036854775807", "1e5000", " 1", "-inf"};

    RandomListCommands(Source source) {
        super(source);
    }

    @Override
    void any() {
        switch (draw.below(25)) {
            case 0, 1, 2, 3 -> add(one("LPUSH", "RPUSH"), list(), element());
            case 4, 5 -> pushMany();
            case 6 -> add(one("LPUSHX", "RPUSHX"), list(), element(), element());
            case 7, 8 -> add(one("LPOP", "RPOP"), list());
            case 9 -> popCount();
            case 10 -> add("LLEN", list());
            case 11, 12 -> add("LRANGE", list(), index(), index());
            case 13 -> add("LINDEX", list(), index());
            case 14 -> add("LSET", list(), index(), element());
            case 15 -> add("LINSERT", list(), one("BEFORE", "AFTER", "before", "after", "at"), element(),
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
        return oneIn(8) ? draw.key() : one(LISTS);
    }

    private String element() {
        return oneIn(4) ? draw.value() : one(ELEMENTS);
    }

    private String index() {
        return oneIn(4) ? draw.number() : Integer.toString(draw.below(24) - 12);
    }

    /**
     * Later versions than 7.0 refuse the least integer where it is to be negated:
     * {@link io.varve.server.differential.IntegerArgumentsDifferentialTest} has it.
     */
    private static String negatable(String number) {
        return number.equals("-9223372036854775808") ? "-9223372036854775807" : number;
    }

    private String end() {
        return oneIn(20) ? one("UP", "", "LEFTS") : one(ENDS);
    }

    private void pushMany() {
        List<String> words = new ArrayList<>(List.of(one("LPUSH", "RPUSH"), list()));
        int elements = oneIn(8) ? draw.below(600) : draw.below(12);
        for (int i = 0; i < elements; i++) {
            words.add(oneIn(3) ? one(ELEMENTS) : "e" + draw.below(20));
        }
        add(words.toArray(String[]::new));
    }

    private void popCount() {
        // Up to 6.0 the count is not known, and up to 7.0 a count of 0 was answered differently.
        if (knows7) {
            add(one("LPOP", "RPOP"), list(),
                    oneIn(3) ? draw.number() : Integer.toString(draw.below(9)));
        }
    }

    private void position() {
        if (!knows7) {
            return;
        }
        List<String> words = new ArrayList<>(List.of("LPOS", list(), element()));
        for (int i = draw.below(4); i > 0; i--) {
            words.add(one("RANK", "COUNT", "MAXLEN", "rank", "count", "maxlen", "RANKS"));
            words.add(negatable(oneIn(5) ? draw.number() : Integer.toString(draw.below(12) - 4)));
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
        int keys = 1 + draw.below(3);
        words.add(
                oneIn(12) ? one("0", "-1", "abc", "", "5", "1", "99999999999") : Integer.toString(keys));
        for (int i = 0; i < keys; i++) {
            words.add(list());
        }
        words.add(end());
        if (oneIn(2)) {
            words.add(one("COUNT", "count", "COUNTS"));
            words.add(oneIn(4) ? draw.number() : Integer.toString(draw.below(7)));
        }
    }

    private String time() {
        return oneIn(6) ? one(TIMES) : "0.001";
    }

    private void waitFor() {
        switch (draw.below(knows7 ? 5 : 2)) {
            case 0 -> addAsIs(one("BLPOP", "BRPOP"), list(), list(), time());
            case 1 -> add("BRPOPLPUSH", list(), list(), time());
            case 2 -> addAsIs(one("BLPOP", "BRPOP"), list(), list(), list(), list(), time());
            case 3 -> add("BLMOVE", list(), list(), end(), end(), time());
            default -> {
                List<String> words = new ArrayList<>(List.of("BLMPOP", time()));
                counted(words);
                add(words.toArray(String[]::new));
            }
        }
    }
}
