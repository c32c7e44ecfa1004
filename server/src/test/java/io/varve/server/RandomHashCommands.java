package io.varve.server;

import java.util.ArrayList;
import java.util.List;

import static io.varve.server.ScriptStep.Comparison.EXACT;
import static io.varve.server.ScriptStep.Comparison.HASH_ORDER;
import static io.varve.server.ScriptStep.Comparison.RANDOM_FIELDS;
import static io.varve.server.ScriptStep.Comparison.WHOLE_SCAN;

/** Random commands on hashes, small ones and such as outgrow a listpack. Confined to the test thread. */
final class RandomHashCommands {
    private static final String[] FIELDS = {"f1", "f2", "f3", "f4", "", "\r\n\0", "f".repeat(64), "f".repeat(65), "10",
            "a*"};

    private final RandomWords random;
    private final CommandSink sink;

    RandomHashCommands(RandomWords random, CommandSink sink) {
        this.random = random;
        this.sink = sink;
    }

    private void add(String... words) {
        sink.add(EXACT, words);
    }

    private String field() {
        return random.oneIn(5) ? "field" + random.below(40) : random.one(FIELDS);
    }

    void any() {
        switch (random.below(26)) {
            case 0, 1, 2 -> add(random.one("HSET", "HMSET"), random.key(), field(), random.value());
            case 3, 4 -> add(random.one("HSET", "HMSET"), random.key(), field(), random.value(), field(),
                    random.value(), field(), random.value());
            case 5 -> manyFields();
            case 6 -> add("HSETNX", random.key(), field(), random.value());
            case 7, 8 -> add("HGET", random.key(), field());
            case 9 -> add("HMGET", random.key(), field(), field(), field());
            case 10, 11 -> sink.add(HASH_ORDER, random.one("HGETALL", "HKEYS", "HVALS"), random.key());
            case 12, 13 -> add("HDEL", random.key(), field());
            case 14 -> add("HDEL", random.key(), field(), field(), field(), "f1", "f2", "f3", "f4");
            case 15 -> add("HLEN", random.key());
            case 16 -> add(random.one("HEXISTS", "HSTRLEN"), random.key(), field());
            case 17, 18 -> add("HINCRBY", random.key(), field(), random.number());
            case 19, 20 -> add("HINCRBYFLOAT", random.key(), field(), random.decimal());
            case 21, 22 -> hscan();
            default -> hrandfield();
        }
    }

    /** Now and then a hash that outgrows the reference's listpack. */
    private void manyFields() {
        List<String> words = new ArrayList<>(List.of("HSET", random.one("hash", "hash2")));
        int fields = random.oneIn(6) ? 500 + random.below(100) : random.below(40);
        for (int i = 0; i < fields; i++) {
            words.add("field" + (random.oneIn(4) ? random.below(fields) : i));
            words.add(Integer.toString(random.below(1000)));
        }
        add(words.toArray(String[]::new));
    }

    private void hscan() {
        String key = random.key();
        switch (random.below(5)) {
            case 0 -> sink.add(WHOLE_SCAN, "HSCAN", key, "0");
            case 1 -> sink.add(WHOLE_SCAN, "HSCAN", key, "0", "COUNT", random.one("1", "7", "1000", "0", "abc"));
            case 2 -> sink.add(WHOLE_SCAN, "HSCAN", key, "0", "MATCH", random.pattern());
            case 3 -> sink.add(WHOLE_SCAN, "HSCAN", key, "0", "COUNT", "50", "MATCH", "f*1*");
            default ->
                sink.add(WHOLE_SCAN, "HSCAN", key, random.one("abc", "", "-", "1.5"), random.one("COUNT", "TYPE"), "1");
        }
    }

    private void hrandfield() {
        String key = random.key();
        switch (random.below(5)) {
            case 0 -> sink.add(RANDOM_FIELDS, "HRANDFIELD", key);
            case 1 ->
                sink.add(RANDOM_FIELDS, "HRANDFIELD", key, random.one("0", "1", "2", "5", "700", "-1", "-5", "-20"));
            case 2 ->
                sink.add(RANDOM_FIELDS, "HRANDFIELD", key, random.one("0", "1", "3", "700", "-1", "-30"), "WITHVALUES");
            case 3 -> sink.add(RANDOM_FIELDS, "HRANDFIELD", key, random.one("abc", "-9223372036854775808", "", "1.5"));
            default -> sink.add(RANDOM_FIELDS, "HRANDFIELD", key,
                    random.one("-9223372036854775807", "9223372036854775807", "abc"),
                    random.one("WITHVALUES", "foo"), random.one("foo", "WITHVALUES"));
        }
    }
}
