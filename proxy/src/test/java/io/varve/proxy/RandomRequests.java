package io.varve.proxy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Draws commands on few keys, whose reply does not depend on time or chance. Confined to one thread. */
final class RandomRequests {
    /** KEY, TAGGED (keys of one slot), VALUE, NUMBER, FIELD, INDEX, SCORE and KEYS are drawn; other words stay. */
    private static final List<String> TEMPLATES = List.of("SET KEY VALUE", "SET KEY VALUE", "SET KEY NUMBER", "GET KEY",
            "GET KEY", "get KEY", "GETSET KEY VALUE", "APPEND KEY VALUE", "STRLEN KEY", "INCR KEY", "DECRBY KEY NUMBER",
            "INCRBYFLOAT KEY SCORE", "SETNX KEY VALUE", "SETEX KEY 1000 VALUE", "GETRANGE KEY INDEX INDEX",
            "SETRANGE KEY INDEX VALUE", "SETBIT KEY NUMBER 1", "BITCOUNT KEY", "TYPE KEY", "PERSIST KEY",
            "EXPIRE KEY 1000", "EXISTS KEYS", "DEL KEYS", "UNLINK KEYS", "TOUCH KEYS", "MGET KEYS", "MGET KEYS",
            "MSET PAIRS", "MSET PAIRS", "MSET KEY", "MSETNX TAGGED VALUE TAGGED VALUE", "LPUSH KEY VALUE VALUE",
            "RPUSH KEY VALUE", "LPOP KEY", "RPOP KEY NUMBER", "LRANGE KEY 0 -1", "LLEN KEY", "LINDEX KEY INDEX",
            "LSET KEY INDEX VALUE", "LREM KEY 0 VALUE", "RPOPLPUSH TAGGED TAGGED", "LMOVE TAGGED TAGGED LEFT RIGHT",
            "BLPOP TAGGED TAGGED 0.001", "HSET KEY FIELD VALUE FIELD VALUE", "HGET KEY FIELD", "HDEL KEY FIELD",
            "HMGET KEY FIELD FIELD", "HLEN KEY", "HINCRBY KEY FIELD NUMBER", "HEXISTS KEY FIELD",
            "SADD KEY VALUE VALUE",
            "SREM KEY VALUE", "SCARD KEY", "SISMEMBER KEY VALUE", "SINTERCARD 2 TAGGED TAGGED",
            "SUNIONSTORE TAGGED TAGGED TAGGED", "SMOVE TAGGED TAGGED VALUE", "ZADD KEY SCORE VALUE SCORE VALUE",
            "ZRANGE KEY 0 -1 WITHSCORES", "ZSCORE KEY VALUE", "ZINCRBY KEY SCORE VALUE", "ZCARD KEY", "ZPOPMIN KEY",
            "ZUNIONSTORE TAGGED 2 TAGGED TAGGED", "ZUNIONSTORE TAGGED 0 TAGGED", "ZRANGEBYSCORE KEY -inf SCORE",
            "PFADD KEY VALUE", "PFCOUNT KEY", "RENAME TAGGED TAGGED", "COPY TAGGED TAGGED REPLACE", "DBSIZE", "PING",
            "ECHO VALUE", "GET", "NOSUCH KEY VALUE", "OBJECT NOSUCH KEY", "SET KEY VALUE NOSUCH", "LPUSH KEY",
            "MULTI", "EXEC", "DISCARD", "FLUSHALL", "PING VALUE", "EXPIRE KEY VALUE", "GETDEL KEY", "GETEX KEY",
            "SUBSTR KEY INDEX INDEX", "SORT KEY ALPHA", "GEOADD KEY 1 2 VALUE", "GEOPOS KEY VALUE");
    private static final int KEYS = 12;

    private final Random random;

    RandomRequests(Random random) {
        this.random = random;
    }

    /** The words of the next command. */
    String[] next() {
        String template = TEMPLATES.get(random.nextInt(TEMPLATES.size()));
        if (template.equals("FLUSHALL") && random.nextInt(20) > 0) {
            template = "GET KEY";
        }
        List<String> words = new ArrayList<>();
        for (String word : template.split(" ")) {
            add(word, words);
        }
        return words.toArray(new String[0]);
    }

    private void add(String word, List<String> words) {
        switch (word) {
            case "KEY" -> words.add(key());
            case "TAGGED" -> words.add("{tag}" + random.nextInt(4));
            case "VALUE" -> words.add(value());
            case "NUMBER" -> words.add(Integer.toString(random.nextInt(100)));
            case "FIELD" -> words.add("f" + random.nextInt(4));
            case "INDEX" -> words.add(Integer.toString(random.nextInt(8) - 3));
            case "SCORE" -> words.add(random.nextInt(20) / 2 + ".5");
            case "KEYS" -> {
                for (int i = random.nextInt(6); i >= 0; i--) {
                    words.add(key());
                }
            }
            case "PAIRS" -> {
                for (int i = random.nextInt(6); i >= 0; i--) {
                    words.add(key());
                    words.add(value());
                }
            }
            default -> words.add(word);
        }
    }

    private String key() {
        return "k" + random.nextInt(KEYS);
    }

    private String value() {
        return random.nextInt(50) == 0 ? "long".repeat(2000) : "v" + random.nextInt(6);
    }
}
