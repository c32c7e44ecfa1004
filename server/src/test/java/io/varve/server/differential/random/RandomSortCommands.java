package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

import static io.varve.server.differential.random.ScriptStep.Comparison.ANY_ORDER;
import static io.varve.server.differential.random.ScriptStep.Comparison.EXACT;

/**
 * Draws random SORTs, of their own keys, whose elements refer to weights and to fields of hashes. Confined to the
 * test's thread.
 *
 * <p>The order of elements with equal weights, or of an unsorted set, is unspecified.
 */
final class RandomSortCommands extends CommandGenerator {
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

    RandomSortCommands(Source source) {
        super(source);
    }

    private String element() {
        return oneIn(40) ? one("abc", "nan", "1e400", "1x", "7 ") : oneIn(8) ? one(ODD) : number();
    }

    private String number() {
        return Integer.toString(random.nextInt(30));
    }

    @Override
    void any() {
        switch (random.nextInt(14)) {
            case 0, 1 -> fill("RPUSH", "sort:list", 0);
            case 2 -> fill("SADD", "sort:set", 0);
            case 3 -> fill("ZADD", "sort:zset", 1);
            case 4, 5 -> weights();
            case 6 -> addAsIs("SET", "sort:string", number());
            case 7 -> addAsIs("DEL", one(KEYS), "sort:w_" + number());
            default -> sort();
        }
    }

    private void fill(String command, String key, int scores) {
        if (oneIn(3)) {
            addAsIs("DEL", key);
        }
        List<String> words = new ArrayList<>(List.of(command, key));
        for (int i = oneIn(10) ? 150 : 1 + random.nextInt(12); i > 0; i--) {
            if (scores > 0) {
                words.add(Integer.toString(1 + random.nextInt(9)));
            }
            words.add(oneIn(10) ? element() : Integer.toString(random.nextInt(oneIn(5) ? 1000 : 30)));
        }
        addAsIs(words.toArray(String[]::new));
    }

    private void weights() {
        List<String> words = new ArrayList<>(List.of("MSET"));
        for (int i = 1 + random.nextInt(20); i > 0; i--) {
            words.add("sort:w_" + number());
            words.add(element());
        }
        addAsIs(words.toArray(String[]::new));
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
            addAsIs("HSET", "sort:h_" + number(), one("f", "g"), element(), "x", "y");
        }
    }

    private void sort() {
        // A conversion that failed before leaves Redis with an error that SORT would take for its own; one that did not
        // fail takes it away.
        addAsIs("ZINCRBY", "sort:errno", "1", "m");
        String key = one(KEYS);
        boolean readOnly = knows7 && oneIn(4);
        boolean alphabetic = oneIn(3);
        String by = oneIn(2) ? one(PATTERNS) : "";
        String stray = oneIn(30) ? one("foo", "LIMIT", "GET", "STORE", "BY") : "";
        // A stray BY takes the next option as its pattern, which has no '*'.
        boolean unsorted = !by.isEmpty() && by.indexOf('*') < 0 || stray.equals("BY");
        boolean ties = alphabetic && by.indexOf('*') >= 0;
        boolean stores = !readOnly && !ties && oneIn(3);
        boolean reported = !ties && !(unsorted && key.equals("sort:set") && !stores);
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
        if (reported && oneIn(3)) {
            options.add(List.of("LIMIT", one(LIMITS), one(LIMITS)));
        }
        if (stores) {
            options.add(List.of("STORE", "sort:stored"));
        }
        if (!stray.isEmpty()) {
            options.add(List.of(stray));
        }
        shuffle(options);
        List<String> words = new ArrayList<>(List.of(readOnly ? "SORT_RO" : one("SORT", "sort"), key));
        for (List<String> option : options) {
            words.addAll(option);
            for (int i = oneIn(4) ? 1 + random.nextInt(2) : 0; i > 0; i--) {
                words.addAll(List.of("GET", one(PATTERNS)));
            }
        }
        addAsIs(new ScriptStep(reported ? EXACT : ANY_ORDER, List.copyOf(words)));
        if (stores) {
            addAsIs("LRANGE", "sort:stored", "0", "-1");
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
