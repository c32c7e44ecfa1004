package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.rdb.Payloads;

import static io.varve.server.differential.random.ScriptStep.Comparison.ANY_ORDER;
import static io.varve.server.differential.random.ScriptStep.Comparison.MILLIS;
import static io.varve.server.differential.random.ScriptStep.Comparison.RANDOM_KEY;
import static io.varve.server.differential.random.ScriptStep.Comparison.SECONDS;
import static io.varve.server.differential.random.ScriptStep.Comparison.WHOLE_SCAN;

/**
 * Draws random commands on keys of any type: their names, their expiry times, their payloads. Confined to the test's
 * thread.
 */
final class RandomKeyCommands extends CommandGenerator {
    private static final String[] PAYLOADS = {Payloads.payload(0, Payloads.texts("value")),
            Payloads.payload(0, "\u00c0\u0007"),
            Payloads.payload(1, Payloads.length(3) + Payloads.texts("a", "b", "7")),
            Payloads.payload(10, Payloads.ziplist("a", "12", "-1000", "x".repeat(300))),
            Payloads.payload(18, Payloads.length(1) + "\u0002" + Payloads.listpack("a", "b", "a")),
            Payloads.payload(11, Payloads.integers(2, -5, 7, 300)),
            Payloads.payload(2, Payloads.length(3) + Payloads.texts("1", "2", "3")),
            Payloads.payload(2, Payloads.length(2) + Payloads.texts("a", "b")),
            Payloads.payload(2, Payloads.length(2) + Payloads.texts("a", "a")),
            Payloads.payload(3, Payloads.length(2) + Payloads.texts("a", "1.5", "b", "2")),
            Payloads.payload(12, Payloads.ziplist("a", "1", "b", "2.5")),
            Payloads.payload(17, Payloads.listpack("m", "7")),
            Payloads.payload(4, Payloads.length(2) + Payloads.texts("f1", "v", "f2", "12")),
            Payloads.payload(4, Payloads.length(1) + Payloads.texts("f1", "v".repeat(100))),
            Payloads.payload(13, Payloads.ziplist("f1", "v", "f2", "12")),
            Payloads.payload(9, Payloads.zipmap("f1", "v")),
            Payloads.payload(16, Payloads.listpack("f1", "v", "f3", "")), Payloads.payload(2, "\0"),
            Payloads.payload(7, "module"),
            Payloads.payload(99, "type"), Payloads.withFooter("\0" + Payloads.texts("v"), 1),
            Payloads.withFooter("\0" + Payloads.texts("v"), 99)};
    private static final String[] TYPES = {"string", "hash", "HASH", "String", "list", "set", "zset", "foo", ""};

    RandomKeyCommands(Source source) {
        super(source);
    }

    @Override
    void any() {
        switch (draw.below(24)) {
            case 0 -> add(one("DEL", "UNLINK"), draw.key());
            case 1 -> add(one("DEL", "UNLINK", "EXISTS", "TOUCH"), draw.key(), draw.key(), draw.key());
            case 2 -> add(one("EXISTS", "TYPE", "TOUCH"), draw.key());
            case 3, 4 -> copy();
            case 5 -> add("MOVE", draw.key(), draw.database());
            case 6, 7 -> add(one("RENAME", "RENAMENX"), draw.key(), draw.key());
            case 8, 9, 10, 11, 12 -> expire();
            case 13 -> sink.add(SECONDS, "TTL", draw.key());
            case 14 -> sink.add(MILLIS, "PTTL", draw.key());
            case 15 -> {
                if (knows7) {
                    sink.add(SECONDS, "EXPIRETIME", draw.key());
                    sink.add(MILLIS, "PEXPIRETIME", draw.key());
                }
            }
            case 16 -> add("PERSIST", draw.key());
            case 17 -> sink.add(ANY_ORDER, "KEYS", draw.pattern());
            case 18 -> sink.add(RANDOM_KEY, "RANDOMKEY");
            case 19, 20 -> scan();
            default -> {
                if (knows7 && oneIn(3)) {
                    restore();
                } else if (knows7) {
                    add("OBJECT", "ENCODING", draw.key());
                }
            }
        }
    }

    /** Payloads that are good, or not, with options that are good, or not. */
    private void restore() {
        String key = draw.key();
        boolean absolute = oneIn(3);
        List<String> words = new ArrayList<>(
                List.of("RESTORE", key, oneIn(2) ? "0" : absolute ? draw.time(1) : draw.span(1)));
        String payload = one(PAYLOADS);
        words.add(oneIn(10) ? payload.substring(draw.below(payload.length())) : payload);
        if (absolute) {
            words.add("ABSTTL");
        }
        for (int i = draw.below(3); i > 0; i--) {
            switch (draw.below(5)) {
                case 0 -> words.addAll(List.of("IDLETIME", one("0", "5", "1000", "-1", "abc")));
                case 1 -> words.addAll(List.of("FREQ", one("0", "5", "255", "256", "-1", "abc")));
                default -> words.add(one("REPLACE", "REPLACE", "replace"));
            }
        }
        add(words.toArray(String[]::new));
        // As behind SET.
        addAsIs("EXISTS", key);
        if (oneIn(6)) {
            add("DUMP", one("none", "missing"));
        }
    }

    private void copy() {
        switch (draw.below(4)) {
            case 0 -> add("COPY", draw.key(), draw.key());
            case 1 -> add("COPY", draw.key(), draw.key(), "REPLACE");
            case 2 -> add("COPY", draw.key(), draw.key(), "DB", draw.database());
            default -> add("COPY", draw.key(), draw.key(), one("DB", "db"), draw.database(),
                    one("REPLACE", "replace", "foo", "DB"));
        }
    }

    private void expire() {
        List<String> words = switch (draw.below(4)) {
            case 0 -> new ArrayList<>(List.of("EXPIRE", draw.key(), draw.span(1000)));
            case 1 -> new ArrayList<>(List.of("PEXPIRE", draw.key(), draw.span(1)));
            case 2 -> new ArrayList<>(List.of("EXPIREAT", draw.key(), draw.time(1000)));
            default -> new ArrayList<>(List.of("PEXPIREAT", draw.key(), draw.time(1)));
        };
        if (knows7) {
            for (int i = oneIn(2) ? 0 : draw.below(3); i > 0; i--) {
                words.add(oneIn(12) ? "foo" : one("NX", "XX", "GT", "LT", "gt"));
            }
        }
        add(words.toArray(String[]::new));
    }

    private void scan() {
        switch (draw.below(5)) {
            case 0 -> sink.add(WHOLE_SCAN, "SCAN", "0");
            case 1 ->
                sink.add(WHOLE_SCAN, "SCAN", "0", "COUNT",
                        one("1", "3", "100", "0", "-1", "abc", "9223372036854775807"));
            case 2 -> sink.add(WHOLE_SCAN, "SCAN", "0", "MATCH", draw.pattern(), "COUNT", "2");
            case 3 -> sink.add(WHOLE_SCAN, "SCAN", "0", "TYPE", one(TYPES));
            default ->
                sink.add(WHOLE_SCAN, "SCAN", one("abc", "", "18446744073709551616", "1.5", " 0", "-", "0x"));
        }
    }
}
