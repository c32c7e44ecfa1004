package io.varve.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

import io.varve.server.rdb.Payloads;

import static io.varve.server.ScriptStep.Comparison.ANY_ORDER;
import static io.varve.server.ScriptStep.Comparison.EXACT;
import static io.varve.server.ScriptStep.Comparison.HASH_ORDER;
import static io.varve.server.ScriptStep.Comparison.MILLIS;
import static io.varve.server.ScriptStep.Comparison.PUSHES;
import static io.varve.server.ScriptStep.Comparison.RANDOM_FIELDS;
import static io.varve.server.ScriptStep.Comparison.RANDOM_KEY;
import static io.varve.server.ScriptStep.Comparison.SECONDS;
import static io.varve.server.ScriptStep.Comparison.WHOLE_SCAN;

/**
 * Random scripts of commands on few keys, so that they meet: right and wrong arity, wrong types, huge numbers, empty
 * strings, binary keys, times in the far future and past, all databases. Confined to the test thread.
 *
 * <p>No time lies so near that it could pass while a script runs, none so far (the year 10889) that Varve's 48 bits of
 * milliseconds would cut it, and no string grows so large that it would matter.
 */
final class RandomCommands {
    private static final String[] KEYS = {"a", "b", "c", "key:1", "key:2", "hash", "hash2", "list", "list2", "",
            "\0\u00ff\r\n",
            "a*[b]", "k".repeat(300), "{tag}1", "set", "set2", "bits", "z", "z2"};
    private static final String[] FIELDS = {"f1", "f2", "f3", "f4", "", "\r\n\0", "f".repeat(64), "f".repeat(65), "10",
            "a*"};
    private static final String[] NUMBERS = {"0", "1", "-1", "2", "10", "100", "-100", "9223372036854775807",
            "-9223372036854775808", "9223372036854775806", "-9223372036854775807", "4611686018427387904",
            "9223372036854775808", "-9223372036854775809", "99999999999999999999999", "-0", "00", "01", "+1", " 1",
            "1 ", "",
            "1.5", "abc", "0x10", "1e3", "-", "2147483648", "-2147483649"};
    private static final String[] FLOATS = {"0", "1", "-1", "0.1", "0.2", "-0.3", "1.5", "3.0e3", "5.0e-3", "1e17",
            "1e-17",
            "-1e-20", "123456789.123456789", "99999999999999999999", "3.14159265358979323846", "1e300", "-1e300",
            "1e4932",
            "1e5000", "1e-5000", "inf", "-inf", "nan", "0x1p4", "1e", "", " 1", "1 ", "abc", ".5", "5.", "+2", "-0",
            "0e0", "1_0",
            "1f", "0.30000000000000000001"};
    private static final String[] PATTERNS = {"*", "k*", "?ey*", "[a-k]*", "[^a]*", "", "**", "a\\*\\[b\\]",
            "key:[0-9]", "h*h*",
            "[", "f?", "f*f*f", "[b-a]", "a*[b]"};
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

    private final SplittableRandom random;
    private final boolean knows7;
    /** Whether everything falls to flash all the time: then some commands are refused in a transaction, and a watched key has moved. */
    private final boolean overFlash;
    private final List<ScriptStep> script = new ArrayList<>();
    private final RandomSetCommands sets;
    private final RandomBitmapCommands bitmaps;
    private final RandomHyperLogLogCommands hyperLogLogs;
    private final RandomSortedSetCommands sortedSets;
    private final RandomGeoCommands places;
    private final RandomListCommands lists;
    private final RandomSortCommands sorts;
    private final RandomServerCommands questions;

    /**
     * @param knows7 whether the reference has the commands and options that came with Redis 7
     */
    RandomCommands(long seed, boolean knows7) {
        this(seed, knows7, false);
    }

    /** @param overFlash whether everything falls to flash all the time */
    RandomCommands(long seed, boolean knows7, boolean overFlash) {
        random = new SplittableRandom(seed);
        this.knows7 = knows7;
        this.overFlash = overFlash;
        sets = new RandomSetCommands(random, this::key, this::add);
        bitmaps = new RandomBitmapCommands(random, this::key, this::add);
        hyperLogLogs = new RandomHyperLogLogCommands(random, this::add);
        sortedSets = new RandomSortedSetCommands(random, knows7, this::key, this::add, script::add);
        places = new RandomGeoCommands(random, this::key, this::add);
        lists = new RandomListCommands(this, knows7);
        sorts = new RandomSortCommands(random, knows7, script::add);
        questions = new RandomServerCommands(random, this::key, this::add, script::add);
    }

    List<ScriptStep> script(int commands) {
        while (script.size() < commands) {
            if (oneIn(60)) {
                transaction();
            } else if (oneIn(60)) {
                subscriptions();
            } else {
                anyCommand();
            }
        }
        return script;
    }

    private void anyCommand() {
        if (knows7 && oneIn(25)) {
            questions.any();
            return;
        }
        if (knows7 && oneIn(3)) {
            switch (random.nextInt(6)) {
                case 0, 1, 2 -> sets.any();
                case 3, 4 -> bitmaps.any();
                default -> hyperLogLogs.any();
            }
            return;
        }
        if (oneIn(4)) {
            sortedSets.any();
            return;
        }
        if (oneIn(8)) {
            places.any();
            return;
        }
        if (oneIn(10)) {
            sorts.any();
            return;
        }
        if (oneIn(5)) {
            lists.command();
            return;
        }
        int kind = random.nextInt(100);
        if (kind < 40) {
            stringCommand();
        } else if (kind < 68) {
            keyCommand();
        } else if (kind < 96) {
            hashCommand();
        } else {
            databaseCommand();
        }
    }

    /** Of what comes in between only commands whose replies are the same byte for byte: EXEC's are compared as a whole. */
    private void transaction() {
        if (oneIn(2)) {
            watch();
        }
        int from = script.size();
        script.add(ScriptStep.exact("MULTI"));
        int count = oneIn(10) ? 200 : random.nextInt(8);
        for (int i = 0; i < count; i++) {
            if (oneIn(60)) {
                add(one("MULTI", "WATCH", "UNWATCH", "PING", "ECHO"), key());
            } else if (oneIn(100)) {
                add("nosuch", "argument");
            } else if (oneIn(40)) {
                pubSubInTransaction();
            } else {
                anyCommand();
            }
        }
        script.subList(from, script.size()).removeIf(step -> !mayBeInTransaction(step));
        add(oneIn(5) ? "DISCARD" : "EXEC");
        // Whatever has become of the words above: it is over.
        script.add(ScriptStep.exact("DISCARD"));
        endSubscriptions();
    }

    /** A key that falls to flash counts as changed: there it is one that changes in any case, or that is not there, or is let go of. */
    private void watch() {
        if (!overFlash) {
            add("WATCH", key(), key());
            if (oneIn(2)) {
                anyCommand();
            }
            if (oneIn(8)) {
                add("UNWATCH");
            }
            return;
        }
        String key = key();
        switch (random.nextInt(3)) {
            case 0 -> {
                script.add(ScriptStep.exact("WATCH", key));
                script.add(ScriptStep.exact("SET", key, value()));
            }
            case 1 -> script.add(ScriptStep.exact("WATCH", "watched and never there"));
            default -> {
                script.add(ScriptStep.exact("WATCH", key, key()));
                script.add(ScriptStep.exact("UNWATCH"));
            }
        }
    }

    /** Of several names each is confirmed in a reply of its own, which EXEC's count does not tell of. */
    private void pubSubInTransaction() {
        String command = one("SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE");
        switch (random.nextInt(4)) {
            case 0, 1 -> script.add(ScriptStep.exact(command, one(KEYS)));
            // Nobody listens to it: the message would stand among the replies there, and comes behind them here.
            case 2 -> add(one("PUBLISH", "SPUBLISH"), "nobody", value());
            default -> script.add(ScriptStep.exact("PUBSUB", one("NUMPAT", "NUMSUB", "nosuch")));
        }
    }

    /** Subscriptions, and what can be asked while there are any. */
    private void subscriptions() {
        for (int i = random.nextInt(1, 20); i > 0; i--) {
            switch (random.nextInt(12)) {
                case 0, 1 -> add(PUSHES, "SUBSCRIBE", key(), key());
                case 2 -> add(PUSHES, "PSUBSCRIBE", one(PATTERNS), one(PATTERNS));
                case 3 -> add(PUSHES, knows7 ? "SSUBSCRIBE" : "SUBSCRIBE", key());
                case 4 -> add(PUSHES, unsubscribe(), key(), one(PATTERNS), key());
                case 5 -> add(PUSHES, unsubscribe());
                case 6, 7 -> add(knows7 ? one("PUBLISH", "PUBLISH", "SPUBLISH") : "PUBLISH", key(), value());
                case 8 -> add(ANY_ORDER, "PUBSUB", knows7 ? one("CHANNELS", "SHARDCHANNELS", "channels") : "CHANNELS",
                        one(PATTERNS));
                case 9 -> add("PUBSUB", knows7 ? one("NUMSUB", "SHARDNUMSUB", "numsub") : "NUMSUB", key(), key());
                case 10 -> add(one("PUBSUB", "PING"), one("NUMPAT", "x"));
                default -> anyCommand();
            }
        }
        endSubscriptions();
    }

    private String unsubscribe() {
        return knows7
                ? one("UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "unsubscribe")
                : one("UNSUBSCRIBE", "PUNSUBSCRIBE");
    }

    private void endSubscriptions() {
        script.add(new ScriptStep(PUSHES, List.of("UNSUBSCRIBE")));
        script.add(new ScriptStep(PUSHES, List.of("PUNSUBSCRIBE")));
        if (knows7) {
            script.add(new ScriptStep(PUSHES, List.of("SUNSUBSCRIBE")));
        }
    }

    private boolean mayBeInTransaction(ScriptStep step) {
        if (step.comparison() != EXACT) {
            return false;
        }
        return !overFlash || !mayAskFlash(step.arguments());
    }

    /** Whether a command may look for keys in another database, or that it does not name: within a transaction it may be refused. */
    private static boolean mayAskFlash(List<String> words) {
        List<String> options = words.stream().skip(2).map(word -> word.toUpperCase(Locale.ROOT)).toList();
        return switch (words.getFirst().toUpperCase(Locale.ROOT)) {
            case "SWAPDB", "DBSIZE", "FLUSHALL", "FLUSHDB", "MOVE" -> true;
            case "COPY" -> options.contains("DB");
            case "SORT", "SORT_RO" -> options.contains("BY") || options.contains("GET");
            default -> false;
        };
    }

    // --- words

    /** A number from 0 to one less. */
    int below(int bound) {
        return random.nextInt(bound);
    }

    String one(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    String key() {
        return one(KEYS);
    }

    private String field() {
        return oneIn(5) ? "field" + random.nextInt(40) : one(FIELDS);
    }

    String number() {
        return oneIn(3) ? Integer.toString(random.nextInt(-200, 200)) : one(NUMBERS);
    }

    String value() {
        return switch (random.nextInt(9)) {
            case 0, 1 -> Integer.toString(random.nextInt(-1000, 1000));
            case 2 -> one(NUMBERS);
            case 3 -> one(FLOATS);
            case 4 -> bytes(random.nextInt(8));
            case 5 -> bytes(one("44", "45", "63", "64", "65", "127", "128", "129"));
            case 6 -> oneIn(10) ? bytes(random.nextInt(60_000)) : bytes(random.nextInt(400));
            default -> "v" + random.nextInt(100);
        };
    }

    private String bytes(String length) {
        return bytes(Integer.parseInt(length));
    }

    private String bytes(int length) {
        StringBuilder text = new StringBuilder(length);
        int alphabet = oneIn(2) ? 3 : 256;
        for (int i = 0; i < length; i++) {
            int c = random.nextInt(alphabet);
            text.append((char) (alphabet == 3 ? 'a' + c : c));
        }
        return text.toString();
    }

    private String database() {
        return oneIn(6) ? one("16", "-1", "abc", "99999999999", "", "1.5", "00") : Integer.toString(random.nextInt(16));
    }

    /** A time span that is long, or past, or wrong. */
    private String span(long unitMillis) {
        if (oneIn(4)) {
            return one("0", "-1", "-100000", "9223372036854775807", "-9223372036854775808",
                    unitMillis == 1 ? "9223372036854775800" : "9223372036854775", "abc", "",
                    "1.5", "99999999999999999999");
        }
        return Long.toString(random.nextLong(1_000_000, 1_000_000_000) / unitMillis + 1_000_000 / unitMillis);
    }

    /** A point in time that is far, or past, or wrong. */
    private String time(long unitMillis) {
        if (oneIn(4)) {
            return one("0", "-1", "1", "1000", "-9223372036854775808",
                    unitMillis == 1 ? "9223372036854775808" : "9223372036854775807", "abc", "");
        }
        if (oneIn(5)) {
            return Long.toString(253_402_300_799_000L / unitMillis);
        }
        return Long.toString((System.currentTimeMillis() + random.nextLong(1_000_000, 1_000_000_000)) / unitMillis);
    }

    // --- steps

    void add(String... arguments) {
        add(EXACT, arguments);
    }

    /** For commands that would wait long for one more argument. */
    void addAsIs(String... arguments) {
        script.add(ScriptStep.exact(arguments));
    }

    private void add(ScriptStep.Comparison comparison, String... arguments) {
        List<String> words = new ArrayList<>(List.of(arguments));
        if (oneIn(40) && words.size() > 1) {
            words.removeLast();
        } else if (oneIn(40)) {
            words.add(one("foo", "", "NX", "LEN", "1"));
        }
        if (oneIn(8)) {
            words.set(0, words.getFirst().toLowerCase(Locale.ROOT));
        }
        script.add(new ScriptStep(comparison, List.copyOf(words)));
    }

    private void stringCommand() {
        switch (random.nextInt(24)) {
            case 0, 1, 2, 3 -> set();
            case 4 -> add("SETNX", key(), value());
            case 5 -> add("SETEX", key(), span(1000), value());
            case 6 -> add("PSETEX", key(), span(1), value());
            case 7, 8, 9 -> add("GET", key());
            case 10 -> getex();
            case 11 -> add("GETDEL", key());
            case 12 -> add("GETSET", key(), value());
            case 13 -> add("MGET", key(), key(), key());
            case 14 -> add(one("MSET", "MSETNX"), key(), value(), key(), value());
            case 15, 16 -> add("APPEND", key(), value());
            case 17 -> add("STRLEN", key());
            case 18 -> add(one("GETRANGE", "SUBSTR"), key(), number(), number());
            case 19 -> add("SETRANGE", key(),
                    oneIn(3)
                            ? one("-1", "536870912", "9223372036854775807", "abc", "536870911000")
                            : Integer.toString(random.nextInt(300)),
                    oneIn(4) ? "" : value());
            case 20, 21 -> add(one("INCR", "DECR"), key());
            case 22 -> add(one("INCRBY", "DECRBY"), key(), number());
            default -> {
                if (oneIn(3)) {
                    lcs();
                } else {
                    add("INCRBYFLOAT", key(), one(FLOATS));
                }
            }
        }
    }

    private void set() {
        List<String> words = new ArrayList<>(List.of("SET", key(), value()));
        boolean nx = false;
        boolean get = false;
        for (int i = random.nextInt(4); i > 0; i--) {
            switch (random.nextInt(9)) {
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
                case 4 -> words.addAll(List.of("EX", span(1000)));
                case 5 -> words.addAll(List.of("PX", span(1)));
                case 6 -> words.addAll(List.of("EXAT", time(1000)));
                case 7 -> words.addAll(List.of("PXAT", time(1)));
                default -> words.add(one("foo", "", "PERSIST", "EX"));
            }
        }
        if (nx && get && !knows7) {
            return;
        }
        add(words.toArray(String[]::new));
        // Before 8 the reference keeps a key whose time has passed until someone looks, and counts it meanwhile.
        script.add(ScriptStep.exact("EXISTS", words.get(1)));
    }

    private void getex() {
        switch (random.nextInt(7)) {
            case 0 -> add("GETEX", key());
            case 1 -> add("GETEX", key(), "PERSIST");
            case 2 -> add("GETEX", key(), "EX", span(1000));
            case 3 -> add("GETEX", key(), "PX", span(1));
            case 4 -> add("GETEX", key(), "EXAT", time(1000));
            case 5 -> add("GETEX", key(), "PXAT", time(1));
            default -> add("GETEX", key(), one("NX", "KEEPTTL", "GET", "foo", "EX"), one("PERSIST", "EX", "1000000"));
        }
    }

    private void lcs() {
        if (!knows7) {
            return;
        }
        String first = key();
        String second = key();
        if (oneIn(2)) {
            add("MSET", first, bytes(random.nextInt(60)), second, bytes(random.nextInt(60)));
        }
        switch (random.nextInt(5)) {
            case 0 -> add("LCS", first, second);
            case 1 -> add("LCS", first, second, "LEN");
            case 2 -> add("LCS", first, second, "IDX", "MINMATCHLEN", number());
            case 3 -> add("LCS", first, second, "idx", "WITHMATCHLEN", "MINMATCHLEN", one("0", "1", "2", "3"));
            default -> add("LCS", first, second, one("IDX", "LEN", "foo", "MINMATCHLEN"), one("LEN", "WITHMATCHLEN"));
        }
    }

    private void keyCommand() {
        switch (random.nextInt(24)) {
            case 0 -> add(one("DEL", "UNLINK"), key());
            case 1 -> add(one("DEL", "UNLINK", "EXISTS", "TOUCH"), key(), key(), key());
            case 2 -> add(one("EXISTS", "TYPE", "TOUCH"), key());
            case 3, 4 -> copy();
            case 5 -> add("MOVE", key(), database());
            case 6, 7 -> add(one("RENAME", "RENAMENX"), key(), key());
            case 8, 9, 10, 11, 12 -> expire();
            case 13 -> add(SECONDS, "TTL", key());
            case 14 -> add(MILLIS, "PTTL", key());
            case 15 -> {
                if (knows7) {
                    add(SECONDS, "EXPIRETIME", key());
                    add(MILLIS, "PEXPIRETIME", key());
                }
            }
            case 16 -> add("PERSIST", key());
            case 17 -> add(ANY_ORDER, "KEYS", one(PATTERNS));
            case 18 -> add(RANDOM_KEY, "RANDOMKEY");
            case 19, 20 -> scan();
            default -> {
                if (knows7 && oneIn(3)) {
                    restore();
                } else if (knows7) {
                    add(EXACT, "OBJECT", "ENCODING", key());
                }
            }
        }
    }

    /** Payloads that are good, or not, with options that are good, or not. */
    private void restore() {
        String key = key();
        boolean absolute = oneIn(3);
        List<String> words = new ArrayList<>(List.of("RESTORE", key, oneIn(2) ? "0" : absolute ? time(1) : span(1)));
        String payload = one(PAYLOADS);
        words.add(oneIn(10) ? payload.substring(random.nextInt(payload.length())) : payload);
        if (absolute) {
            words.add("ABSTTL");
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            switch (random.nextInt(5)) {
                case 0 -> words.addAll(List.of("IDLETIME", one("0", "5", "1000", "-1", "abc")));
                case 1 -> words.addAll(List.of("FREQ", one("0", "5", "255", "256", "-1", "abc")));
                default -> words.add(one("REPLACE", "REPLACE", "replace"));
            }
        }
        add(words.toArray(String[]::new));
        // As behind SET.
        script.add(ScriptStep.exact("EXISTS", key));
        if (oneIn(6)) {
            add("DUMP", one("none", "missing"));
        }
    }

    private void copy() {
        switch (random.nextInt(4)) {
            case 0 -> add("COPY", key(), key());
            case 1 -> add("COPY", key(), key(), "REPLACE");
            case 2 -> add("COPY", key(), key(), "DB", database());
            default -> add("COPY", key(), key(), one("DB", "db"), database(), one("REPLACE", "replace", "foo", "DB"));
        }
    }

    private void expire() {
        List<String> words = switch (random.nextInt(4)) {
            case 0 -> new ArrayList<>(List.of("EXPIRE", key(), span(1000)));
            case 1 -> new ArrayList<>(List.of("PEXPIRE", key(), span(1)));
            case 2 -> new ArrayList<>(List.of("EXPIREAT", key(), time(1000)));
            default -> new ArrayList<>(List.of("PEXPIREAT", key(), time(1)));
        };
        if (knows7) {
            for (int i = oneIn(2) ? 0 : random.nextInt(3); i > 0; i--) {
                words.add(oneIn(12) ? "foo" : one("NX", "XX", "GT", "LT", "gt"));
            }
        }
        add(words.toArray(String[]::new));
    }

    private void scan() {
        switch (random.nextInt(5)) {
            case 0 -> add(WHOLE_SCAN, "SCAN", "0");
            case 1 ->
                add(WHOLE_SCAN, "SCAN", "0", "COUNT", one("1", "3", "100", "0", "-1", "abc", "9223372036854775807"));
            case 2 -> add(WHOLE_SCAN, "SCAN", "0", "MATCH", one(PATTERNS), "COUNT", "2");
            case 3 -> add(WHOLE_SCAN, "SCAN", "0", "TYPE", one(TYPES));
            default -> add(WHOLE_SCAN, "SCAN", one("abc", "", "18446744073709551616", "1.5", " 0", "-", "0x"));
        }
    }

    private void hashCommand() {
        switch (random.nextInt(26)) {
            case 0, 1, 2 -> add(one("HSET", "HMSET"), key(), field(), value());
            case 3, 4 -> add(one("HSET", "HMSET"), key(), field(), value(), field(), value(), field(), value());
            case 5 -> manyFields();
            case 6 -> add("HSETNX", key(), field(), value());
            case 7, 8 -> add("HGET", key(), field());
            case 9 -> add("HMGET", key(), field(), field(), field());
            case 10, 11 -> add(HASH_ORDER, one("HGETALL", "HKEYS", "HVALS"), key());
            case 12, 13 -> add("HDEL", key(), field());
            case 14 -> add("HDEL", key(), field(), field(), field(), "f1", "f2", "f3", "f4");
            case 15 -> add("HLEN", key());
            case 16 -> add(one("HEXISTS", "HSTRLEN"), key(), field());
            case 17, 18 -> add("HINCRBY", key(), field(), number());
            case 19, 20 -> add("HINCRBYFLOAT", key(), field(), one(FLOATS));
            case 21, 22 -> hscan();
            default -> hrandfield();
        }
    }

    /** Now and then a hash that outgrows the reference's listpack. */
    private void manyFields() {
        List<String> words = new ArrayList<>(List.of("HSET", one("hash", "hash2")));
        int fields = oneIn(6) ? random.nextInt(500, 600) : random.nextInt(40);
        for (int i = 0; i < fields; i++) {
            words.add("field" + (oneIn(4) ? random.nextInt(fields) : i));
            words.add(Integer.toString(random.nextInt(1000)));
        }
        add(words.toArray(String[]::new));
    }

    private void hscan() {
        String key = key();
        switch (random.nextInt(5)) {
            case 0 -> add(WHOLE_SCAN, "HSCAN", key, "0");
            case 1 -> add(WHOLE_SCAN, "HSCAN", key, "0", "COUNT", one("1", "7", "1000", "0", "abc"));
            case 2 -> add(WHOLE_SCAN, "HSCAN", key, "0", "MATCH", one(PATTERNS));
            case 3 -> add(WHOLE_SCAN, "HSCAN", key, "0", "COUNT", "50", "MATCH", "f*1*");
            default -> add(WHOLE_SCAN, "HSCAN", key, one("abc", "", "-", "1.5"), one("COUNT", "TYPE"), "1");
        }
    }

    private void hrandfield() {
        String key = key();
        switch (random.nextInt(5)) {
            case 0 -> add(RANDOM_FIELDS, "HRANDFIELD", key);
            case 1 -> add(RANDOM_FIELDS, "HRANDFIELD", key, one("0", "1", "2", "5", "700", "-1", "-5", "-20"));
            case 2 -> add(RANDOM_FIELDS, "HRANDFIELD", key, one("0", "1", "3", "700", "-1", "-30"), "WITHVALUES");
            case 3 -> add(RANDOM_FIELDS, "HRANDFIELD", key, one("abc", "-9223372036854775808", "", "1.5"));
            default -> add(RANDOM_FIELDS, "HRANDFIELD", key, one("-9223372036854775807", "9223372036854775807", "abc"),
                    one("WITHVALUES", "foo"), one("foo", "WITHVALUES"));
        }
    }

    private void databaseCommand() {
        switch (random.nextInt(10)) {
            case 0, 1, 2, 3, 4 -> add("SELECT", oneIn(3) ? database() : one("0", "1", "2"));
            case 5, 6 -> add("SWAPDB", database(), database());
            case 7, 8 -> add("DBSIZE");
            default -> add(oneIn(6) ? "FLUSHALL" : "FLUSHDB", one("ASYNC", "SYNC", "sync", "foo"));
        }
    }
}
