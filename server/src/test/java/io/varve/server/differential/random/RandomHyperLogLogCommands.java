package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

/**
 * Draws random commands on HyperLogLogs, some so full that they become dense, some damaged: GET shows whether each byte
 * equals the reference's. Confined to the test's thread.
 *
 * <p>They have their own keys: Redis's result is undefined if it writes to one whose opcodes end in the middle.
 */
final class RandomHyperLogLogCommands extends CommandGenerator {
    private static final String[] KEYS = {"hll", "hll2", "hll3", "hll4"};

    RandomHyperLogLogCommands(Source source) {
        super(source);
    }

    private String key() {
        return one(KEYS);
    }

    @Override
    void any() {
        switch (random.nextInt(16)) {
            case 0, 1, 2, 3 -> addElements(key(), random.nextInt(oneIn(3) ? 60 : 4));
            case 4 -> addElements(one(KEYS), oneIn(3) ? 2000 : 300);
            case 5, 6 -> add("PFCOUNT", key());
            case 7 -> add("PFCOUNT", key(), key(), key());
            case 8 -> add("PFMERGE", key(), key());
            case 9 -> add("PFMERGE", key(), key(), key());
            case 10, 11 -> add("GET", one(KEYS));
            case 12 -> add("OBJECT", "ENCODING", one(KEYS));
            case 13 -> add("PFDEBUG", one("ENCODING", "DECODE", "TODENSE", "GETREG", "encoding", "foo"), key());
            case 14 -> copy();
            default -> damage();
        }
    }

    private void addElements(String key, int count) {
        List<String> words = new ArrayList<>(List.of("PFADD", key));
        int bound = oneIn(2) ? 50 : 1_000_000;
        for (int i = 0; i < count; i++) {
            words.add(oneIn(20) ? "e".repeat(random.nextInt(40)) : Integer.toString(random.nextInt(bound)));
        }
        add(words.toArray(String[]::new));
    }

    /** The source of COPY or SET has been a string of another encoding, or another type. */
    private void copy() {
        switch (random.nextInt(4)) {
            case 0, 1 -> add("COPY", key(), key(), "REPLACE");
            case 2 -> add("SET", key(), one("text", "12", "", "HYLL\1\0\0\0\0\0\0\0\0\0\0", "HYLL\2".repeat(4)));
            default -> add("SET", key(), "HYLL\1\0\0\0\0\0\0\0\0\0\0" + one("\0", "\u0080")
                    + one("\u007f\u00ff", "\u007f\u00fe\0", "\u007f\u00fd\u0080\0", "\u007f\u00fd\u0080\u0080", "",
                            "\u007f\u00fd\u0080", "\u007f\u00ff\0", "\u00ff".repeat(18), "\u00ff".repeat(12_288)));
        }
    }

    private void damage() {
        String key = key();
        switch (random.nextInt(8)) {
            case 0 -> add("SETRANGE", key, Integer.toString(random.nextInt(16)), one("\0", "\u0080", "x", "\1"));
            case 1 -> add("APPEND", key, one("\0", "\u0080", "\u00ff\0"));
            case 2 -> {
                add("SETRANGE", key, Integer.toString(16 + random.nextInt(40)),
                        one("\0", "\u0080", "\u007f", "x", "\1", "\u007f\u00ff"));
                add("PFCOUNT", key);
                add("PFCOUNT", key, key());
                add("PFMERGE", one(KEYS) + "x", key);
                add("PFDEBUG", one("TODENSE", "DECODE"), key);
                // Named twice, so that it goes whatever becomes of the words.
                add("DEL", key, key);
            }
            case 3 -> add("SADD", key, "x");
            default -> add("DEL", key);
        }
    }
}
