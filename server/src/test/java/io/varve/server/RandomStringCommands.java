package io.varve.server;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import static io.varve.server.ScriptStep.Comparison.EXACT;

/** Random commands on strings, with every option of SET and GETEX. Confined to the test thread. */
final class RandomStringCommands {
    private final RandomWords random;
    private final boolean knows7;
    private final CommandSink sink;
    private final Consumer<ScriptStep> asItIs;

    /** @param knows7 whether the reference has the commands and options that came with Redis 7 */
    RandomStringCommands(RandomWords random, boolean knows7, CommandSink sink, Consumer<ScriptStep> asItIs) {
        this.random = random;
        this.knows7 = knows7;
        this.sink = sink;
        this.asItIs = asItIs;
    }

    private void add(String... words) {
        sink.add(EXACT, words);
    }

    void any() {
        switch (random.below(24)) {
            case 0, 1, 2, 3 -> set();
            case 4 -> add("SETNX", random.key(), random.value());
            case 5 -> add("SETEX", random.key(), random.span(1000), random.value());
            case 6 -> add("PSETEX", random.key(), random.span(1), random.value());
            case 7, 8, 9 -> add("GET", random.key());
            case 10 -> getex();
            case 11 -> add("GETDEL", random.key());
            case 12 -> add("GETSET", random.key(), random.value());
            case 13 -> add("MGET", random.key(), random.key(), random.key());
            case 14 -> add(random.one("MSET", "MSETNX"), random.key(), random.value(), random.key(), random.value());
            case 15, 16 -> add("APPEND", random.key(), random.value());
            case 17 -> add("STRLEN", random.key());
            case 18 -> add(random.one("GETRANGE", "SUBSTR"), random.key(), random.number(), random.number());
            case 19 -> add("SETRANGE", random.key(),
                    random.oneIn(3)
                            ? random.one("-1", "536870912", "9223372036854775807", "abc", "536870911000")
                            : Integer.toString(random.below(300)),
                    random.oneIn(4) ? "" : random.value());
            case 20, 21 -> add(random.one("INCR", "DECR"), random.key());
            case 22 -> add(random.one("INCRBY", "DECRBY"), random.key(), random.number());
            default -> {
                if (random.oneIn(3)) {
                    lcs();
                } else {
                    add("INCRBYFLOAT", random.key(), random.decimal());
                }
            }
        }
    }

    private void set() {
        List<String> words = new ArrayList<>(List.of("SET", random.key(), random.value()));
        boolean nx = false;
        boolean get = false;
        for (int i = random.below(4); i > 0; i--) {
            switch (random.below(9)) {
                case 0 -> {
                    words.add(random.one("NX", "nx"));
                    nx = true;
                }
                case 1 -> words.add("XX");
                case 2 -> {
                    words.add(random.one("GET", "get"));
                    get = true;
                }
                case 3 -> words.add("KEEPTTL");
                case 4 -> words.addAll(List.of("EX", random.span(1000)));
                case 5 -> words.addAll(List.of("PX", random.span(1)));
                case 6 -> words.addAll(List.of("EXAT", random.time(1000)));
                case 7 -> words.addAll(List.of("PXAT", random.time(1)));
                default -> words.add(random.one("foo", "", "PERSIST", "EX"));
            }
        }
        if (nx && get && !knows7) {
            return;
        }
        add(words.toArray(String[]::new));
        // Before 8 the reference keeps a key whose time has passed until someone looks, and counts it meanwhile.
        asItIs.accept(ScriptStep.exact("EXISTS", words.get(1)));
    }

    private void getex() {
        switch (random.below(7)) {
            case 0 -> add("GETEX", random.key());
            case 1 -> add("GETEX", random.key(), "PERSIST");
            case 2 -> add("GETEX", random.key(), "EX", random.span(1000));
            case 3 -> add("GETEX", random.key(), "PX", random.span(1));
            case 4 -> add("GETEX", random.key(), "EXAT", random.time(1000));
            case 5 -> add("GETEX", random.key(), "PXAT", random.time(1));
            default -> add("GETEX", random.key(), random.one("NX", "KEEPTTL", "GET", "foo", "EX"),
                    random.one("PERSIST", "EX", "1000000"));
        }
    }

    private void lcs() {
        if (!knows7) {
            return;
        }
        String first = random.key();
        String second = random.key();
        if (random.oneIn(2)) {
            add("MSET", first, random.bytes(random.below(60)), second, random.bytes(random.below(60)));
        }
        switch (random.below(5)) {
            case 0 -> add("LCS", first, second);
            case 1 -> add("LCS", first, second, "LEN");
            case 2 -> add("LCS", first, second, "IDX", "MINMATCHLEN", random.number());
            case 3 -> add("LCS", first, second, "idx", "WITHMATCHLEN", "MINMATCHLEN", random.one("0", "1", "2", "3"));
            default -> add("LCS", first, second, random.one("IDX", "LEN", "foo", "MINMATCHLEN"),
                    random.one("LEN", "WITHMATCHLEN"));
        }
    }
}
