package io.varve.server.linearizability;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Draws the requests of one history's clients. Confined to its user. */
public final class RandomRequests {
    /** The kinds of requests. */
    public enum Mix {
        /** Commands of one key. */
        KEYS,
        /** Transactions and commands over several keys among them. */
        TRANSACTIONS,
        /** Transactions of clients that watch keys among them. */
        WATCHES,
        /** Hashes whose fields have times, transactions and watches among them. */
        FIELD_TIMES
    }

    /** All keys; two of each type, but any command may meet any of them. */
    public static final List<String> KEYS = List.of("text0", "text1", "list0", "list1", "set0", "set1", "hash0",
            "hash1");
    /** In the year 2100. */
    private static final long LATER_MILLIS = 4_102_444_800_000L;
    private static final List<String> CONDITIONS = List.of("NX", "XX", "GT", "LT");
    private static final int WATCH_CALLS = 3;

    private final SplittableRandom random;
    private final Mix mix;
    private int values = 10;

    public RandomRequests(SplittableRandom random, Mix mix) {
        this.random = random;
        this.mix = mix;
    }

    /** The requests of one client, in order. */
    public List<Request> script(int requests) {
        List<Request> script = new ArrayList<>();
        while (script.size() < requests) {
            int kind = random.nextInt(10);
            if (mix == Mix.FIELD_TIMES && kind == 0 && script.size() + WATCH_CALLS <= requests) {
                String key = key("hash");
                script.add(Request.of("WATCH", key));
                script.add(Request.of("HPEXPIRETIME", key, "FIELDS", "2", "f0", "f1"));
                script.add(new Request(List.of(expireFields(key), List.of("HLEN", key)), true));
            } else if (mix == Mix.FIELD_TIMES && kind == 1) {
                script.add(transaction());
            } else if (mix == Mix.WATCHES && kind < 4 && script.size() + WATCH_CALLS <= requests) {
                String key = key("text");
                script.add(Request.of("WATCH", key));
                script.add(Request.of("GET", key));
                script.add(new Request(List.of(List.of("SET", key, value()), call()), true));
            } else if (mix == Mix.TRANSACTIONS && kind < 3) {
                script.add(transaction());
            } else if (mix == Mix.TRANSACTIONS && kind == 3) {
                script.add(new Request(List.of(overKeys()), false));
            } else {
                script.add(new Request(List.of(call()), false));
            }
        }
        return script;
    }

    private Request transaction() {
        List<List<String>> calls = new ArrayList<>();
        for (int i = random.nextInt(1, 4); i >= 0; i--) {
            calls.add(call());
        }
        return new Request(calls, true);
    }

    /** A command that takes effect in several shards. */
    private List<String> overKeys() {
        return switch (random.nextInt(3)) {
            case 0 -> List.of("MSET", "text0", value(), "text1", value());
            case 1 -> List.of("MGET", "text0", "text1");
            default -> List.of("RPOPLPUSH", key("list"), key("list"));
        };
    }

    private List<String> call() {
        return mix == Mix.FIELD_TIMES && random.nextInt(12) > 0 ? ofHash(key("hash")) : ofOtherType();
    }

    private List<String> ofHash(String key) {
        return switch (random.nextInt(14)) {
            case 0, 1, 2 -> List.of("HSET", key, field(), value());
            case 3 -> List.of("HDEL", key, field());
            case 4 -> List.of("HGET", key, field());
            case 5 -> List.of(random.nextBoolean() ? "HLEN" : "HGETALL", key);
            case 6 -> List.of("HINCRBY", key, field(), "1");
            case 7 -> List.of("HPERSIST", key, "FIELDS", "2", field(), field());
            case 8, 9 -> List.of("HPEXPIRETIME", key, "FIELDS", "3", field(), field(), field());
            case 10 -> List.of("HPEXPIREAT", key, "1", "FIELDS", "1", field());
            default -> expireFields(key);
        };
    }

    private List<String> expireFields(String key) {
        List<String> words = new ArrayList<>(List.of("HPEXPIREAT", key, Long.toString(LATER_MILLIS + number())));
        if (random.nextBoolean()) {
            words.add(CONDITIONS.get(random.nextInt(CONDITIONS.size())));
        }
        words.addAll(List.of("FIELDS", "2", field(), field()));
        return words;
    }

    private String field() {
        return "f" + random.nextInt(4);
    }

    private List<String> ofOtherType() {
        return switch (random.nextInt(16)) {
            case 0, 1 -> List.of("GET", key("text"));
            case 2, 3 -> List.of("SET", key("text"), value());
            case 4, 5 -> List.of("INCR", key("text"));
            case 6 -> List.of("APPEND", key("text"), Integer.toString(random.nextInt(10)));
            case 7 -> List.of("GETSET", key("text"), value());
            case 8 -> List.of("DEL", KEYS.get(random.nextInt(KEYS.size())));
            case 9, 10 -> List.of("LPUSH", key("list"), value());
            case 11 -> List.of("LPOP", key("list"));
            case 12 -> List.of("LRANGE", key("list"), "0", "-1");
            case 13 -> List.of("SADD", key("set"), Integer.toString(random.nextInt(4)));
            case 14 -> List.of("SREM", key("set"), Integer.toString(random.nextInt(4)));
            default -> List.of(random.nextBoolean() ? "SCARD" : "SMEMBERS", key("set"));
        };
    }

    /** One of its type, mostly. */
    private String key(String type) {
        return random.nextInt(12) == 0 ? KEYS.get(random.nextInt(KEYS.size())) : type + random.nextInt(2);
    }

    private String value() {
        return Integer.toString(number());
    }

    /** One that comes once in a history. */
    private int number() {
        values += 10;
        return values;
    }
}
