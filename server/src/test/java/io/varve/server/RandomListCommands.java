package io.varve.server;

import java.util.ArrayList;
import java.util.List;

/**
 * Random commands on lists, for {@link RandomCommands}: every command and option, those that wait too, for as long as it takes to
 * see that nothing comes. Confined to the test thread.
 */
final class RandomListCommands {
    private static final String[] LISTS = {"list", "list2", "a", "b"};
    private static final String[] ELEMENTS = {"e1", "e2", "e3", "", "\r\n\0", "e".repeat(127), "e".repeat(128), "10"};
    private static final String[] ENDS = {"LEFT", "RIGHT", "left", "Right"};
    private static final String[] TIMES = {"0.001", "0.0001", "0.002", "0x0.004p0", "1e-3", "-1", "abc", "", "nan",
            "inf", "1e300", "9223372036854775807", "1e5000", " 1", "-inf"};

    private final RandomCommands all;
    private final boolean knows7;

    /** @param knows7 whether the reference has the commands and options that came with Redis 7 */
    RandomListCommands(RandomCommands all, boolean knows7) {
        this.all = all;
        this.knows7 = knows7;
    }

    void command() {
        switch (all.below(25)) {
            case 0, 1, 2, 3 -> all.add(all.one("LPUSH", "RPUSH"), list(), element());
            case 4, 5 -> pushMany();
            case 6 -> all.add(all.one("LPUSHX", "RPUSHX"), list(), element(), element());
            case 7, 8 -> all.add(all.one("LPOP", "RPOP"), list());
            case 9 -> popCount();
            case 10 -> all.add("LLEN", list());
            case 11, 12 -> all.add("LRANGE", list(), index(), index());
            case 13 -> all.add("LINDEX", list(), index());
            case 14 -> all.add("LSET", list(), index(), element());
            case 15 -> all.add("LINSERT", list(), all.one("BEFORE", "AFTER", "before", "after", "at"), element(),
                    element());
            case 16 -> all.add("LREM", list(), index(), element());
            case 17 -> all.add("LTRIM", list(), index(), index());
            case 18, 19 -> position();
            case 20 -> move();
            case 21 -> all.add("RPOPLPUSH", list(), list());
            case 22 -> popFirst();
            default -> waitFor();
        }
    }

    private String list() {
        return all.oneIn(8) ? all.key() : all.one(LISTS);
    }

    private String element() {
        return all.oneIn(4) ? all.value() : all.one(ELEMENTS);
    }

    private String index() {
        return all.oneIn(4) ? all.number() : Integer.toString(all.below(24) - 12);
    }

    private String end() {
        return all.oneIn(20) ? all.one("UP", "", "LEFTS") : all.one(ENDS);
    }

    private void pushMany() {
        List<String> words = new ArrayList<>(List.of(all.one("LPUSH", "RPUSH"), list()));
        int elements = all.oneIn(8) ? all.below(600) : all.below(12);
        for (int i = 0; i < elements; i++) {
            words.add(all.oneIn(3) ? all.one(ELEMENTS) : "e" + all.below(20));
        }
        all.add(words.toArray(String[]::new));
    }

    private void popCount() {
        // Up to 6.0 the count is not known, and up to 7.0 a count of 0 was answered differently.
        if (knows7) {
            all.add(all.one("LPOP", "RPOP"), list(), all.oneIn(3) ? all.number() : Integer.toString(all.below(9)));
        }
    }

    private void position() {
        if (!knows7) {
            return;
        }
        List<String> words = new ArrayList<>(List.of("LPOS", list(), element()));
        for (int i = all.below(4); i > 0; i--) {
            words.add(all.one("RANK", "COUNT", "MAXLEN", "rank", "count", "maxlen", "RANKS"));
            words.add(all.oneIn(5) ? all.number() : Integer.toString(all.below(12) - 4));
        }
        all.add(words.toArray(String[]::new));
    }

    private void move() {
        if (knows7) {
            all.add("LMOVE", list(), list(), end(), end());
        }
    }

    private void popFirst() {
        if (!knows7) {
            return;
        }
        List<String> words = new ArrayList<>(List.of("LMPOP"));
        counted(words);
        all.add(words.toArray(String[]::new));
    }

    private void counted(List<String> words) {
        int keys = 1 + all.below(3);
        words.add(all.oneIn(12) ? all.one("0", "-1", "abc", "", "5", "1", "99999999999") : Integer.toString(keys));
        for (int i = 0; i < keys; i++) {
            words.add(list());
        }
        words.add(end());
        if (all.oneIn(2)) {
            words.add(all.one("COUNT", "count", "COUNTS"));
            words.add(all.oneIn(4) ? all.number() : Integer.toString(all.below(7)));
        }
    }

    private String time() {
        return all.oneIn(6) ? all.one(TIMES) : "0.001";
    }

    private void waitFor() {
        switch (all.below(knows7 ? 5 : 2)) {
            case 0 -> all.addAsIs(all.one("BLPOP", "BRPOP"), list(), list(), time());
            case 1 -> all.add("BRPOPLPUSH", list(), list(), time());
            case 2 -> all.addAsIs(all.one("BLPOP", "BRPOP"), list(), list(), list(), list(), time());
            case 3 -> all.add("BLMOVE", list(), list(), end(), end(), time());
            default -> {
                List<String> words = new ArrayList<>(List.of("BLMPOP", time()));
                counted(words);
                all.add(words.toArray(String[]::new));
            }
        }
    }
}
