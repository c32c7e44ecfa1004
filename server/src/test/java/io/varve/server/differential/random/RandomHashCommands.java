package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

import static io.varve.server.differential.random.ScriptStep.Comparison.HASH_ORDER;
import static io.varve.server.differential.random.ScriptStep.Comparison.RANDOM_FIELDS;
import static io.varve.server.differential.random.ScriptStep.Comparison.WHOLE_SCAN;

/** Draws random commands on hashes, small ones and some beyond a listpack's limits. Confined to the test's thread. */
final class RandomHashCommands extends CommandGenerator {
    private static final String[] FIELDS = {"f1", "f2", "f3", "f4", "", "\r\n\0", "f".repeat(64), "f".repeat(65), "10",
            "a*"};

    RandomHashCommands(Source source) {
        super(source);
    }

    private String field() {
        return oneIn(5) ? "field" + draw.below(40) : one(FIELDS);
    }

    @Override
    void any() {
        switch (draw.below(26)) {
            case 0, 1, 2 -> add(one("HSET", "HMSET"), draw.key(), field(), draw.value());
            case 3, 4 -> add(one("HSET", "HMSET"), draw.key(), field(), draw.value(), field(),
                    draw.value(), field(), draw.value());
            case 5 -> manyFields();
            case 6 -> add("HSETNX", draw.key(), field(), draw.value());
            case 7, 8 -> add("HGET", draw.key(), field());
            case 9 -> add("HMGET", draw.key(), field(), field(), field());
            case 10, 11 -> sink.add(HASH_ORDER, one("HGETALL", "HKEYS", "HVALS"), draw.key());
            case 12, 13 -> add("HDEL", draw.key(), field());
            case 14 -> add("HDEL", draw.key(), field(), field(), field(), "f1", "f2", "f3", "f4");
            case 15 -> add("HLEN", draw.key());
            case 16 -> add(one("HEXISTS", "HSTRLEN"), draw.key(), field());
            case 17, 18 -> add("HINCRBY", draw.key(), field(), draw.number());
            case 19, 20 -> add("HINCRBYFLOAT", draw.key(), field(), draw.decimal());
            case 21, 22 -> hscan();
            default -> hrandfield();
        }
    }

    /** Now and then a hash that outgrows the reference's listpack. */
    private void manyFields() {
        List<String> words = new ArrayList<>(List.of("HSET", one("hash", "hash2")));
        int fields = oneIn(6) ? 500 + draw.below(100) : draw.below(40);
        for (int i = 0; i < fields; i++) {
            words.add("field" + (oneIn(4) ? draw.below(fields) : i));
            words.add(Integer.toString(draw.below(1000)));
        }
        add(words.toArray(String[]::new));
    }

    private void hscan() {
        String key = draw.key();
        switch (draw.below(5)) {
            case 0 -> sink.add(WHOLE_SCAN, "HSCAN", key, "0");
            case 1 -> sink.add(WHOLE_SCAN, "HSCAN", key, "0", "COUNT", one("1", "7", "1000", "0", "abc"));
            case 2 -> sink.add(WHOLE_SCAN, "HSCAN", key, "0", "MATCH", draw.pattern());
            case 3 -> sink.add(WHOLE_SCAN, "HSCAN", key, "0", "COUNT", "50", "MATCH", "f*1*");
            default ->
                sink.add(WHOLE_SCAN, "HSCAN", key, one("abc", "", "-", "1.5"), one("COUNT", "TYPE"), "1");
        }
    }

    private void hrandfield() {
        String key = draw.key();
        switch (draw.below(5)) {
            case 0 -> sink.add(RANDOM_FIELDS, "HRANDFIELD", key);
            case 1 ->
                sink.add(RANDOM_FIELDS, "HRANDFIELD", key, one("0", "1", "2", "5", "700", "-1", "-5", "-20"));
            case 2 ->
                sink.add(RANDOM_FIELDS, "HRANDFIELD", key, one("0", "1", "3", "700", "-1", "-30"), "WITHVALUES");
            case 3 -> sink.add(RANDOM_FIELDS, "HRANDFIELD", key, one("abc", "-9223372036854775808", "", "1.5"));
            default -> sink.add(RANDOM_FIELDS, "HRANDFIELD", key,
                    one("-9223372036854775807", "9223372036854775807", "abc"),
                    one("WITHVALUES", "foo"), one("foo", "WITHVALUES"));
        }
    }
}
