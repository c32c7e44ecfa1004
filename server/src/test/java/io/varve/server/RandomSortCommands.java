package io.varve.server;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

import static io.varve.server.ScriptStep.Comparison.ANY_ORDER;
import static io.varve.server.ScriptStep.Comparison.EXACT;

/**
 * Random SORTs, of keys of their own, whose elements lead to weights and to fields of hashes. Confined to the test thread.
 *
 * <p>Where elements have the same weight, or a set is not sorted, their order is nobody's business.
 */
final class RandomSortCommands {
    private static final String[] KEYS = {"sort:list", "sort:list", "sort:set", "sort:zset", "sort:stored",
            "sort:string",
            "sort:none"};
    private static final String[] ODD = {"1.5", "-0", "0", "1e3", " 7", "0x10", "inf", "-inf", "", "-17", "1e-3", "+5",
            "9.",
            "007", "99999999999999999999"};
    private static final String[] PATTERNS = {"sort:w_*", "sort:w_*", "sort:h_*->f", "sort:h_*->g", "sort:none_*", "*",
            "sort:h_*", "sort:w_*->f", "sort:h_*->", "nosort", "#", "", "sort:w_*_*"};
    private static final String[] LIMITS = {"0", "1", "2", "3", "5", "100", "-1", "-7", "9223372036854775807",
            "-9223372036854775808", "abc", "1.5"};

    private final SplittableRandom random;
    private final boolean knows7;
    private final Consumer<ScriptStep> sink;

    RandomSortCommands(SplittableRandom random, boolean knows7, Consumer<ScriptStep> sink) {
        this.random = random;
        this.knows7 = knows7;
        this.sink = sink;
    }

    private String one(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    private void add(List<String> words) {
        sink.accept(ScriptStep.exact(words.toArray(String[]::new)));
    }

    private String element() {
        return oneIn(40) ? one("abc", "nan", "1e400", "1x", "7 ") : oneIn(8) ? one(ODD) : number();
    }

    private String number() {
        return Integer.toString(random.nextInt(30));
    }

    void any() {
        switch (random.nextInt(14)) {
            case 0, 1 -> fill("RPUSH", "sort:list", 0);
            case 2 -> fill("SADD", "sort:set", 0);
            case 3 -> fill("ZADD", "sort:zset", 1);
            case 4, 5 -> weights();
            case 6 -> add(List.of("SET", "sort:string", number()));
            case 7 -> add(List.of("DEL", one(KEYS), "sort:w_" + number()));
            default -> sort();
        }
    }

    private void fill(String command, String key, int scores) {
        if (oneIn(3)) {
            add(List.of("DEL", key));
        }
        List<String> words = new ArrayList<>(List.of(command, key));
        for (int i = oneIn(10) ? 150 : 1 + random.nextInt(12); i > 0; i--) {
            if (scores > 0) {
                words.add(Integer.toString(1 + random.nextInt(9)));
            }
            words.add(oneIn(10) ? element() : Integer.toString(random.nextInt(oneIn(5) ? 1000 : 30)));
        }
        add(words);
    }

    private void weights() {
        List<String> words = new ArrayList<>(List.of("MSET"));
        for (int i = 1 + random.nextInt(20); i > 0; i--) {
            words.add("sort:w_" + number());
            words.add(element());
        }
        add(words);
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
            add(List.of("HSET", "sort:h_" + number(), one("f", "g"), element(), "x", "y"));
        }
    }

    private void sort() {
        // A conversion that failed before leaves Redis with an error that SORT would take for its own; one that did not fail takes it away.
        add(List.of("ZINCRBY", "sort:errno", "1", "m"));
        String key = one(KEYS);
        boolean readOnly = knows7 && oneIn(4);
        boolean alphabetic = oneIn(3);
        String by = oneIn(2) ? one(PATTERNS) : "";
        boolean unsorted = !by.isEmpty() && by.indexOf('*') < 0;
        boolean ties = alphabetic && by.indexOf('*') >= 0;
        boolean stores = !readOnly && !ties && oneIn(3);
        boolean told = !ties && !(unsorted && key.equals("sort:set") && !stores);
        List<List<String>> options = new ArrayList<>();
        if (alphabetic) {
            options.add(List.of(one("ALPHA", "alpha")));
        }
        if (oneIn(2)) {
            options.add(List.of(one("ASC", "DESC", "desc")));
        }
        if (!by.isEmpty()) {
            options.add(List.of("BY", by));
        }
        if (told && oneIn(3)) {
            options.add(List.of("LIMIT", one(LIMITS), one(LIMITS)));
        }
        if (stores) {
            options.add(List.of("STORE", "sort:stored"));
        }
        if (oneIn(30)) {
            options.add(List.of(one("foo", "LIMIT", "GET", "STORE", "BY")));
        }
        shuffle(options);
        List<String> words = new ArrayList<>(List.of(readOnly ? "SORT_RO" : one("SORT", "sort"), key));
        for (List<String> option : options) {
            words.addAll(option);
            for (int i = oneIn(4) ? 1 + random.nextInt(2) : 0; i > 0; i--) {
                words.addAll(List.of("GET", one(PATTERNS)));
            }
        }
        sink.accept(new ScriptStep(told ? EXACT : ANY_ORDER, List.copyOf(words)));
        if (stores) {
            add(List.of("LRANGE", "sort:stored", "0", "-1"));
        }
    }

    private void shuffle(List<List<String>> options) {
        for (int i = options.size() - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            List<String> moved = options.set(i, options.get(other));
            options.set(other, moved);
        }
    }
}
