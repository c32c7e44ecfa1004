package io.varve.server.command.hash;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Generates random commands, most valid and some invalid, on a few keys with hashes whose fields have expiry times.
 * Confined to its user. The generator does not read the store, so any command may be left out of a script.
 */
public final class RandomHashCommands {
    /** Between commands: the time advances by this many milliseconds. */
    static final String SLEEP = "(sleep)";
    /** Between commands: an expiry cycle. */
    static final String MAINTAIN = "(maintain)";
    /** Between commands: everything is due, and many cycles later all memory is back. */
    static final String END = "(end)";
    /** A walk over a key with HSCAN. */
    static final String SCAN = "(scan)";
    /** DUMP of one key and RESTORE under another. */
    static final String RESTORE = "(restore)";
    /** Whether all holds together. */
    static final String CHECK = "(check)";

    private static final List<String> KEYS = List.of("h", "g", "i");
    /** In the middle of a script, seldom. */
    private static final String STRING = "s";
    private static final int CHECK_EVERY = 100;
    private static final int MANY = 60;

    private final SplittableRandom random;
    private final int names;
    private long now;

    /**
     * @param names how many fields there are about
     * @param now   when the first command runs
     */
    public RandomHashCommands(long seed, int names, long now) {
        random = new SplittableRandom(seed);
        this.names = names;
        this.now = now;
    }

    /** So many steps, and those between them. */
    List<List<String>> script(int steps) {
        List<List<String>> script = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            if (random.nextInt(4) == 0) {
                int millis = random.nextInt(20);
                now += millis;
                script.add(List.of(SLEEP, Integer.toString(millis)));
            }
            if (random.nextInt(10) == 0) {
                script.add(List.of(MAINTAIN));
            }
            script.add(step());
            if (i % CHECK_EVERY == 0) {
                script.add(List.of(CHECK));
            }
        }
        script.add(List.of("DISCARD"));
        KEYS.forEach(key -> script.add(List.of("HGETALL", key)));
        script.add(List.of(CHECK));
        return script;
    }

    /** So many commands alone. */
    public List<List<String>> commands(int count) {
        List<List<String>> commands = new ArrayList<>();
        while (commands.size() < count) {
            List<String> step = step();
            if (!step.getFirst().startsWith("(")) {
                commands.add(step);
            }
        }
        return commands;
    }

    private List<String> step() {
        List<String> words = right();
        // Without its last word, or with one more.
        return switch (words.getFirst().startsWith("(") ? 2 : random.nextInt(100)) {
            case 0 -> List.copyOf(words.subList(0, Math.max(1, words.size() - 1)));
            case 1 -> words.getFirst().matches("DEL|EXISTS|SET|PEXPIRE|COPY") ? words : with(words, name());
            default -> words;
        };
    }

    private List<String> right() {
        String key = key();
        return switch (random.nextInt(46)) {
            case 0, 1, 2, 3 -> set(key);
            case 4 -> with(List.of("HDEL", key), some(random.nextInt(2) == 0 ? 8 : 1));
            case 5 -> List.of("HSETNX", key, name(), "nx");
            case 6 -> increment(key);
            case 7, 8, 9, 10, 11, 12, 13, 14, 15 -> expire(key);
            case 16, 17 -> withFields(List.of("HPERSIST", key), some(8));
            case 18, 19, 20 -> withFields(List.of(any("HTTL", "HPTTL", "HEXPIRETIME", "HPEXPIRETIME"), key), some(8));
            case 21 -> List.of(any("HGET", "HEXISTS", "HSTRLEN"), key, name());
            case 22 -> with(List.of("HMGET", key), some(8));
            case 23 -> List.of("HLEN", key);
            case 24 -> List.of(any("HGETALL", "HKEYS", "HVALS"), key);
            case 25, 26 -> pick(key);
            case 27, 28 -> List.of(SCAN, key);
            case 29 -> List.of(any("EXISTS", "TYPE", "PTTL", "PERSIST"), key);
            case 30 -> List.of("PEXPIRE", key, Integer.toString(random.nextInt(40) == 0 ? 0 : random.nextInt(1, 500)));
            case 31 -> List.of("RENAME", key, key());
            case 32 -> random.nextInt(3) == 0
                    ? List.of("COPY", key, key())
                    : List.of("COPY", key, key(), random.nextBoolean() ? "REPLACE" : "replace");
            case 33 -> List.of(RESTORE, key, key());
            case 34 -> random.nextInt(20) == 0 ? List.of("DEL", key) : List.of("HLEN", key);
            case 35 -> List.of("MULTI");
            case 36, 37, 38 -> List.of(random.nextInt(8) == 0 ? "DISCARD" : "EXEC");
            case 39, 40 -> withValues(key);
            case 41, 42, 43 -> withTimes(key);
            case 44 -> withFields(List.of("HGETDEL", key), some(random.nextInt(2) == 0 ? 4 : 1));
            default -> random.nextInt(8) == 0 ? List.of("SET", STRING, "text") : List.of("HGETALL", key);
        };
    }

    private String any(String... words) {
        return words[random.nextInt(words.length)];
    }

    private String key() {
        return random.nextInt(60) == 0 ? STRING : KEYS.get(random.nextInt(KEYS.size()));
    }

    private String name() {
        int number = random.nextInt(names);
        return number == 0 ? "" : number % 17 == 0 ? "long".repeat(50) + number : "f" + number;
    }

    private List<String> some(int max) {
        List<String> some = new ArrayList<>();
        for (int i = random.nextInt(1, (random.nextInt(12) == 0 ? MANY : max) + 1); i > 0; i--) {
            some.add(name());
        }
        return some;
    }

    private static List<String> with(List<String> words, List<String> more) {
        List<String> all = new ArrayList<>(words);
        all.addAll(more);
        return all;
    }

    private static List<String> with(List<String> words, String... more) {
        return with(words, Arrays.asList(more));
    }

    // --- writes

    private List<String> set(String key) {
        List<String> words = new ArrayList<>(List.of("HSET", key));
        for (String name : some(random.nextInt(3) == 0 ? 8 : 1)) {
            words.add(name);
            words.add(random.nextInt(3) == 0
                    ? Integer.toString(random.nextInt(1000))
                    : "v".repeat(random.nextInt(20) == 0 ? random.nextInt(2000) : random.nextInt(9)));
        }
        return words;
    }

    private List<String> increment(String key) {
        return random.nextBoolean()
                ? List.of("HINCRBY", key, name(), any("1", "1", "-5", "4611686018427387904", "x"))
                : List.of("HINCRBYFLOAT", key, name(), any("1", "0.5", "-0.5", "x"));
    }

    private List<String> expire(String key) {
        long in = switch (random.nextInt(10)) {
            case 0 -> 0;
            case 1 -> 1_000_000;
            default -> random.nextInt(400);
        };
        List<String> words = new ArrayList<>(switch (random.nextInt(8)) {
            // By seconds they live on; those by milliseconds are due in this script.
            case 0 -> List.of("HEXPIRE", key, Long.toString(in / 100));
            case 1 -> List.of("HEXPIREAT", key, Long.toString((now + in) / 1000));
            case 2, 3, 4 -> List.of("HPEXPIREAT", key, Long.toString(random.nextInt(12) == 0 ? in : now + in));
            default -> List.of("HPEXPIRE", key, Long.toString(in));
        });
        if (random.nextInt(25) == 0) {
            words.set(2, any("-1", "x", "", "1.5", "70368744177663", "70368744177664", "70368744178",
                    "9223372036854775807", "-9223372036854775808", "99999999999999999999"));
        }
        if (random.nextInt(2) == 0) {
            String condition = any("NX", "XX", "GT", "LT");
            words.add(random.nextInt(4) == 0 ? condition.toLowerCase(Locale.ROOT) : condition);
        }
        if (random.nextInt(60) == 0) {
            words.add(any("XX", "LT", "KEEPTTL"));
        }
        return withFields(words, some(random.nextInt(2) == 0 ? 8 : 1));
    }

    private List<String> withValues(String key) {
        List<String> words = new ArrayList<>(List.of("HSETEX", key));
        for (int i = random.nextInt(3); i > 0; i--) {
            if (random.nextInt(2) == 0) {
                words.addAll(time());
            } else {
                words.add(any("KEEPTTL", "KEEPTTL", "FXX", "FNX", "fxx", "XX", "NX",
                        random.nextInt(9) == 0 ? "GT" : "XX"));
            }
        }
        List<String> pairs = set(key).subList(2, 4);
        List<String> more = set(key);
        List<String> all = with(pairs, more.subList(2, more.size()));
        return withFields(words, all, all.size() / 2);
    }

    private List<String> withTimes(String key) {
        List<String> words = new ArrayList<>(List.of("HGETEX", key));
        if (random.nextInt(4) > 0) {
            words.addAll(time());
        }
        if (random.nextInt(5) == 0) {
            words.add(any("PERSIST", "persist", "PERSIST", random.nextInt(9) == 0 ? "KEEPTTL" : "PERSIST"));
        }
        return withFields(words, some(random.nextInt(2) == 0 ? 4 : 1));
    }

    /** A unit and a time in it. */
    private List<String> time() {
        long in = random.nextInt(12) == 0 ? 0 : random.nextInt(400);
        if (random.nextInt(25) == 0) {
            return List.of(any("EX", "PX", "EXAT", "PXAT"),
                    any("-1", "x", "", "1.5", "70368744177664", "9223372036854775807", "99999999999999999999"));
        }
        return switch (random.nextInt(8)) {
            case 0 -> List.of("EX", Long.toString(in / 100));
            case 1 -> List.of("EXAT", Long.toString((now + in) / 1000));
            case 2, 3, 4 -> List.of("PXAT", Long.toString(random.nextInt(12) == 0 ? in : now + in));
            default -> List.of(random.nextInt(9) == 0 ? "px" : "PX", Long.toString(in));
        };
    }

    private List<String> withFields(List<String> words, List<String> fields) {
        return withFields(words, fields, fields.size());
    }

    /** FIELDS, how many, and these: seldom not so. */
    private List<String> withFields(List<String> words, List<String> fields, int number) {
        String count = switch (random.nextInt(60)) {
            case 0 -> Integer.toString(number + 1);
            case 1 -> Integer.toString(number - 1);
            case 2 -> any("0", "-1", "x", "", "9223372036854775807", "99999999999999999999");
            default -> Integer.toString(number);
        };
        String word = random.nextInt(60) == 0 ? any("FIELD", "1", "") : any("FIELDS", "FIELDS", "fields");
        return with(with(words, word, count), fields);
    }

    private List<String> pick(String key) {
        String count = random.nextInt(20) == 0
                ? any("x", "99999999999999999999")
                : Integer.toString(random.nextInt(-12, 12) * (random.nextInt(6) == 0 ? 10 : 1));
        return switch (random.nextInt(4)) {
            case 0 -> List.of("HRANDFIELD", key);
            case 1 -> List.of("HRANDFIELD", key, count, random.nextInt(20) == 0 ? "VALUES" : "WITHVALUES");
            default -> List.of("HRANDFIELD", key, count);
        };
    }
}
