package io.varve.server;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.varve.server.rdb.Payloads;

import static io.varve.server.ScriptStep.Comparison.ANY_ORDER;
import static io.varve.server.ScriptStep.Comparison.EXACT;
import static io.varve.server.ScriptStep.Comparison.MILLIS;
import static io.varve.server.ScriptStep.Comparison.RANDOM_KEY;
import static io.varve.server.ScriptStep.Comparison.SECONDS;
import static io.varve.server.ScriptStep.Comparison.WHOLE_SCAN;

/** Random commands on keys whatever their type: their names, their times, their payloads. Confined to the test thread. */
final class RandomKeyCommands {
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

    private final RandomWords random;
    private final boolean knows7;
    private final CommandSink sink;
    private final Consumer<ScriptStep> asItIs;

    /** @param knows7 whether the reference has the commands and options that came with Redis 7 */
    RandomKeyCommands(RandomWords random, boolean knows7, CommandSink sink, Consumer<ScriptStep> asItIs) {
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
            case 0 -> add(random.one("DEL", "UNLINK"), random.key());
            case 1 -> add(random.one("DEL", "UNLINK", "EXISTS", "TOUCH"), random.key(), random.key(), random.key());
            case 2 -> add(random.one("EXISTS", "TYPE", "TOUCH"), random.key());
            case 3, 4 -> copy();
            case 5 -> add("MOVE", random.key(), random.database());
            case 6, 7 -> add(random.one("RENAME", "RENAMENX"), random.key(), random.key());
            case 8, 9, 10, 11, 12 -> expire();
            case 13 -> sink.add(SECONDS, "TTL", random.key());
            case 14 -> sink.add(MILLIS, "PTTL", random.key());
            case 15 -> {
                if (knows7) {
                    sink.add(SECONDS, "EXPIRETIME", random.key());
                    sink.add(MILLIS, "PEXPIRETIME", random.key());
                }
            }
            case 16 -> add("PERSIST", random.key());
            case 17 -> sink.add(ANY_ORDER, "KEYS", random.pattern());
            case 18 -> sink.add(RANDOM_KEY, "RANDOMKEY");
            case 19, 20 -> scan();
            default -> {
                if (knows7 && random.oneIn(3)) {
                    restore();
                } else if (knows7) {
                    add("OBJECT", "ENCODING", random.key());
                }
            }
        }
    }

    /** Payloads that are good, or not, with options that are good, or not. */
    private void restore() {
        String key = random.key();
        boolean absolute = random.oneIn(3);
        List<String> words = new ArrayList<>(
                List.of("RESTORE", key, random.oneIn(2) ? "0" : absolute ? random.time(1) : random.span(1)));
        String payload = random.one(PAYLOADS);
        words.add(random.oneIn(10) ? payload.substring(random.below(payload.length())) : payload);
        if (absolute) {
            words.add("ABSTTL");
        }
        for (int i = random.below(3); i > 0; i--) {
            switch (random.below(5)) {
                case 0 -> words.addAll(List.of("IDLETIME", random.one("0", "5", "1000", "-1", "abc")));
                case 1 -> words.addAll(List.of("FREQ", random.one("0", "5", "255", "256", "-1", "abc")));
                default -> words.add(random.one("REPLACE", "REPLACE", "replace"));
            }
        }
        add(words.toArray(String[]::new));
        // As behind SET.
        asItIs.accept(ScriptStep.exact("EXISTS", key));
        if (random.oneIn(6)) {
            add("DUMP", random.one("none", "missing"));
        }
    }

    private void copy() {
        switch (random.below(4)) {
            case 0 -> add("COPY", random.key(), random.key());
            case 1 -> add("COPY", random.key(), random.key(), "REPLACE");
            case 2 -> add("COPY", random.key(), random.key(), "DB", random.database());
            default -> add("COPY", random.key(), random.key(), random.one("DB", "db"), random.database(),
                    random.one("REPLACE", "replace", "foo", "DB"));
        }
    }

    private void expire() {
        List<String> words = switch (random.below(4)) {
            case 0 -> new ArrayList<>(List.of("EXPIRE", random.key(), random.span(1000)));
            case 1 -> new ArrayList<>(List.of("PEXPIRE", random.key(), random.span(1)));
            case 2 -> new ArrayList<>(List.of("EXPIREAT", random.key(), random.time(1000)));
            default -> new ArrayList<>(List.of("PEXPIREAT", random.key(), random.time(1)));
        };
        if (knows7) {
            for (int i = random.oneIn(2) ? 0 : random.below(3); i > 0; i--) {
                words.add(random.oneIn(12) ? "foo" : random.one("NX", "XX", "GT", "LT", "gt"));
            }
        }
        add(words.toArray(String[]::new));
    }

    private void scan() {
        switch (random.below(5)) {
            case 0 -> sink.add(WHOLE_SCAN, "SCAN", "0");
            case 1 ->
                sink.add(WHOLE_SCAN, "SCAN", "0", "COUNT",
                        random.one("1", "3", "100", "0", "-1", "abc", "9223372036854775807"));
            case 2 -> sink.add(WHOLE_SCAN, "SCAN", "0", "MATCH", random.pattern(), "COUNT", "2");
            case 3 -> sink.add(WHOLE_SCAN, "SCAN", "0", "TYPE", random.one(TYPES));
            default ->
                sink.add(WHOLE_SCAN, "SCAN", random.one("abc", "", "18446744073709551616", "1.5", " 0", "-", "0x"));
        }
    }
}
