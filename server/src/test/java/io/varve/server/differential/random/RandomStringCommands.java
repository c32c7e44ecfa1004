package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

/** Draws random commands on strings, with every option of SET and GETEX. Confined to the test's thread. */
final class RandomStringCommands extends CommandGenerator {

    RandomStringCommands(Source source) {
        super(source);
    }

    @Override
    void any() {
        switch (draw.below(24)) {
            case 0, 1, 2, 3 -> set();
            case 4 -> add("SETNX", draw.key(), draw.value());
            case 5 -> add("SETEX", draw.key(), draw.span(1000), draw.value());
            case 6 -> add("PSETEX", draw.key(), draw.span(1), draw.value());
            case 7, 8, 9 -> add("GET", draw.key());
            case 10 -> getex();
            case 11 -> add("GETDEL", draw.key());
            case 12 -> add("GETSET", draw.key(), draw.value());
            case 13 -> add("MGET", draw.key(), draw.key(), draw.key());
            case 14 -> add(one("MSET", "MSETNX"), draw.key(), draw.value(), draw.key(), draw.value());
            case 15, 16 -> add("APPEND", draw.key(), draw.value());
            case 17 -> add("STRLEN", draw.key());
            case 18 -> add(one("GETRANGE", "SUBSTR"), draw.key(), draw.number(), draw.number());
            case 19 -> add("SETRANGE", draw.key(),
                    oneIn(3)
                            ? one("-1", "536870912", "9223372036854775807", "abc", "536870911000")
                            : Integer.toString(draw.below(300)),
                    oneIn(4) ? "" : draw.value());
            case 20, 21 -> add(one("INCR", "DECR"), draw.key());
            case 22 -> add(one("INCRBY", "DECRBY"), draw.key(), draw.number());
            default -> {
                if (oneIn(3)) {
                    lcs();
                } else {
                    add("INCRBYFLOAT", draw.key(), draw.decimal());
                }
            }
        }
    }

    private void set() {
        List<String> words = new ArrayList<>(List.of("SET", draw.key(), draw.value()));
        boolean nx = false;
        boolean get = false;
        for (int i = draw.below(4); i > 0; i--) {
            switch (draw.below(9)) {
                case 0 -> {
                    words.add(one("NX", "nx"));
                    nx = true;
                }
                case 1 -> words.add("XX");
                case 2 -> {
                    words.add(one("GET", "get"));
                    get = true;
                }
                case 3 -> words.add("KEEPTTL");
                case 4 -> words.addAll(List.of("EX", draw.span(1000)));
                case 5 -> words.addAll(List.of("PX", draw.span(1)));
                case 6 -> words.addAll(List.of("EXAT", draw.time(1000)));
                case 7 -> words.addAll(List.of("PXAT", draw.time(1)));
                default -> words.add(one("foo", "", "PERSIST", "EX"));
            }
        }
        if (nx && get && !knows7) {
            return;
        }
        add(words.toArray(String[]::new));
        // Before 8 the reference keeps a key whose time has passed until someone looks, and counts it meanwhile.
        addAsIs("EXISTS", words.get(1));
    }

    private void getex() {
        switch (draw.below(7)) {
            case 0 -> add("GETEX", draw.key());
            case 1 -> add("GETEX", draw.key(), "PERSIST");
            case 2 -> add("GETEX", draw.key(), "EX", draw.span(1000));
            case 3 -> add("GETEX", draw.key(), "PX", draw.span(1));
            case 4 -> add("GETEX", draw.key(), "EXAT", draw.time(1000));
            case 5 -> add("GETEX", draw.key(), "PXAT", draw.time(1));
            default -> add("GETEX", draw.key(), one("NX", "KEEPTTL", "GET", "foo", "EX"),
                    one("PERSIST", "EX", "1000000"));
        }
    }

    private void lcs() {
        if (!knows7) {
            return;
        }
        String first = draw.key();
        String second = draw.key();
        if (oneIn(2)) {
            add("MSET", first, draw.bytes(draw.below(60)), second, draw.bytes(draw.below(60)));
        }
        switch (draw.below(5)) {
            case 0 -> add("LCS", first, second);
            case 1 -> add("LCS", first, second, "LEN");
            case 2 -> add("LCS", first, second, "IDX", "MINMATCHLEN", draw.number());
            case 3 -> add("LCS", first, second, "idx", "WITHMATCHLEN", "MINMATCHLEN", one("0", "1", "2", "3"));
            default -> add("LCS", first, second, one("IDX", "LEN", "foo", "MINMATCHLEN"),
                    one("LEN", "WITHMATCHLEN"));
        }
    }
}
