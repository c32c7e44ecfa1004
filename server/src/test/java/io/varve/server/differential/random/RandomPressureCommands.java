package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws values of any type and size, and commands that need memory for them: the key {@code k}, another key {@code o},
 * and {@code d} for results. Confined to the test's thread.
 */
public final class RandomPressureCommands {
    static final List<String> KEYS = List.of("k", "o", "d");
    private static final int MAX_PER_COMMAND = 200;
    private static final int MAX_BYTES_PER_COMMAND = 200_000;

    /** The types of a key; each has its commands. */
    public enum Type {
        STRING, LIST, HASH, SET, SORTED_SET, HYPERLOGLOG
    }

    private final SplittableRandom random;
    private final int minBytes;
    private final int maxBytes;

    public RandomPressureCommands(long seed, int minBytes, int maxBytes) {
        random = new SplittableRandom(seed);
        this.minBytes = minBytes;
        this.maxBytes = maxBytes;
    }

    public Type type() {
        return Type.values()[random.nextInt(Type.values().length)];
    }

    /** As many small ones as large ones. */
    public int size() {
        return (int) (minBytes * Math.pow((double) maxBytes / minBytes, random.nextDouble()));
    }

    public boolean chance(int of) {
        return random.nextInt(of) == 0;
    }

    public int below(int bound) {
        return random.nextInt(bound);
    }

    String text(int length) {
        String seed = Long.toString(random.nextLong() >>> 1, 36) + ".";
        return seed.repeat(length / seed.length() + 1).substring(0, length);
    }

    /** Commands that make a value of about that size under a key that is not there. */
    public List<List<String>> make(String key, Type type, int bytes) {
        List<List<String>> commands = new ArrayList<>();
        if (type == Type.STRING) {
            commands.add(List.of("SET", key, text(bytes)));
            return commands;
        }
        if (type == Type.HYPERLOGLOG) {
            List<String> add = new ArrayList<>(List.of("PFADD", key));
            for (int i = 0; i < MAX_PER_COMMAND; i++) {
                add.add(text(12));
            }
            commands.add(add);
            return commands;
        }
        int elements = chance(4) ? 1 : 1 + random.nextInt(Math.min(2000, bytes / 20));
        int each = Math.max(1, bytes / elements);
        List<String> command = new ArrayList<>();
        int inCommand = 0;
        for (int i = 0; i < elements; i++) {
            if (command.isEmpty()) {
                command.addAll(List.of(switch (type) {
                    case LIST -> "RPUSH";
                    case HASH -> "HSET";
                    case SET -> "SADD";
                    default -> "ZADD";
                }, key));
            }
            switch (type) {
                case HASH -> command.addAll(List.of("f" + i, text(each)));
                case SORTED_SET -> command.addAll(List.of(Integer.toString(i), "m" + i + text(each)));
                default -> command.add("m" + i + text(each));
            }
            inCommand += each;
            if (command.size() > MAX_PER_COMMAND || inCommand > MAX_BYTES_PER_COMMAND) {
                commands.add(List.copyOf(command));
                command.clear();
                inCommand = 0;
            }
        }
        if (!command.isEmpty()) {
            commands.add(command);
        }
        return commands;
    }

    /** A command on {@code k}, which holds that type; {@code o} holds the same one or another. */
    public List<String> command(Type type, int bytes) {
        return random.nextInt(4) == 0 ? ofAnyType() : switch (type) {
            case STRING -> ofString(bytes);
            case LIST -> ofList();
            case HASH -> ofHash();
            case SET -> ofSet();
            case SORTED_SET -> ofSortedSet();
            case HYPERLOGLOG ->
                one(List.of("PFADD", "k", text(9)), List.of("PFCOUNT", "k"), List.of("PFMERGE", "d", "k"),
                        List.of("GET", "k"));
        };
    }

    @SafeVarargs
    private List<String> one(List<String>... commands) {
        return commands[random.nextInt(commands.length)];
    }

    private List<String> ofAnyType() {
        return one(List.of("RENAME", "k", "d"), List.of("RENAME", "k", "o"), List.of("RENAMENX", "k", "d"),
                List.of("RENAMENX", "k", "o"), List.of("COPY", "k", "d"), List.of("COPY", "k", "o", "REPLACE"),
                List.of("COPY", "k", "k", "DB", "1", "REPLACE"), List.of("MOVE", "k", "1"), List.of("DUMP", "k"),
                List.of("EXISTS", "k", "o", "d"), List.of("TOUCH", "k", "o"), List.of("PERSIST", "k"),
                List.of("EXPIRE", "k", "9999"), List.of("TYPE", "k"), List.of("DEL", "o"),
                List.of("MSET", "k", text(below(20_000)), "d", text(below(20_000))),
                List.of("MSETNX", "d", text(below(20_000)), "e", "x"), List.of("SET", "k", text(size() / 2)),
                List.of("SORT", "k", "ALPHA", "STORE", "d"));
    }

    private List<String> ofString(int bytes) {
        String piece = text(below(3) == 0 ? size() / 4 : below(30_000));
        return one(List.of("APPEND", "k", "z"), List.of("APPEND", "k", piece), List.of("GET", "k"),
                List.of("SETRANGE", "k", Integer.toString(below(bytes)), piece),
                List.of("SETRANGE", "k", Integer.toString(bytes + below(bytes / 4)), "end"),
                List.of("SETBIT", "k", Integer.toString(below(9 * bytes)), "1"), List.of("GETSET", "k", piece),
                List.of("SET", "k", piece, "GET"), List.of("SET", "k", piece, "KEEPTTL"),
                List.of("SET", "k", piece, "XX"), List.of("SET", "k", piece, "NX"), List.of("SETNX", "k", piece),
                List.of("GETEX", "k", "EX", "9000"), List.of("GETDEL", "k"), List.of("STRLEN", "k"),
                List.of("GETRANGE", "k", "5", Integer.toString(below(bytes))), List.of("MGET", "k", "o", "d"),
                List.of("BITOP", "NOT", "d", "k"), List.of("BITOP", "XOR", "d", "k", "o"),
                List.of("BITOP", "OR", "k", "k", "d"), List.of("BITCOUNT", "k"),
                List.of("BITFIELD", "k", "SET", "u8", Integer.toString(below(9 * bytes)), "7"),
                List.of("SETEX", "k", "1000", piece), List.of("MSET", "o", piece, "k", piece),
                List.of("PFADD", "d", piece));
    }

    private List<String> ofList() {
        String piece = text(below(3) == 0 ? size() / 4 : below(30_000));
        return one(List.of("RPUSH", "k", piece), List.of("LPUSH", "k", piece, "b", piece),
                List.of("RPUSHX", "k", piece),
                List.of("LSET", "k", "0", piece), List.of("LSET", "k", "-1", piece), List.of("LPOP", "k"),
                List.of("RPOP", "k", "3"), List.of("LMOVE", "k", "d", "LEFT", "RIGHT"),
                List.of("LMOVE", "k", "k", "LEFT", "RIGHT"), List.of("RPOPLPUSH", "k", "o"),
                List.of("LRANGE", "k", "0", "-1"), List.of("LINDEX", "k", "-1"), List.of("LTRIM", "k", "1", "-2"),
                List.of("LREM", "k", "0", "none"), List.of("LPOS", "k", "none"),
                List.of("LMPOP", "2", "k", "o", "LEFT", "COUNT", "5"), List.of("SORT", "k", "ALPHA", "STORE", "d"),
                List.of("SORT", "k", "ALPHA", "LIMIT", "0", "2"), List.of("BLMOVE", "k", "d", "RIGHT", "LEFT", "1"));
    }

    private List<String> ofHash() {
        String piece = text(below(3) == 0 ? size() / 4 : below(30_000));
        return one(List.of("HSET", "k", "new", piece), List.of("HSET", "k", "f0", piece),
                List.of("HSETNX", "k", "f0", piece),
                List.of("HSETNX", "k", "new", piece), List.of("HMSET", "k", "a", piece, "b", piece),
                List.of("HINCRBY", "k", "n", "5"), List.of("HDEL", "k", "f0"), List.of("HGETALL", "k"),
                List.of("HVALS", "k"), List.of("HKEYS", "k"), List.of("HMGET", "k", "f0", "f1", "none"),
                List.of("HGET", "k", "f0"), List.of("HSTRLEN", "k", "f0"), List.of("HLEN", "k"));
    }

    private List<String> ofSet() {
        String piece = text(below(3) == 0 ? size() / 4 : below(30_000));
        return one(List.of("SADD", "k", piece), List.of("SREM", "k", "none"), List.of("SMOVE", "k", "d", "none"),
                List.of("SUNIONSTORE", "d", "k", "o"), List.of("SINTERSTORE", "d", "k", "k"),
                List.of("SDIFFSTORE", "d", "k", "o"), List.of("SUNIONSTORE", "k", "k", "o"), List.of("SMEMBERS", "k"),
                List.of("SUNION", "k", "o"), List.of("SINTER", "k", "k"), List.of("SCARD", "k"),
                List.of("SISMEMBER", "k", piece));
    }

    private List<String> ofSortedSet() {
        String piece = text(below(3) == 0 ? size() / 4 : below(30_000));
        return one(List.of("ZADD", "k", "7.5", piece), List.of("ZINCRBY", "k", "3", piece),
                List.of("ZREM", "k", "none"),
                List.of("ZRANGE", "k", "0", "-1", "WITHSCORES"), List.of("ZRANGESTORE", "d", "k", "0", "-1"),
                List.of("ZUNIONSTORE", "d", "2", "k", "o"), List.of("ZINTERSTORE", "d", "2", "k", "k"),
                List.of("ZDIFFSTORE", "d", "2", "k", "o"), List.of("ZPOPMIN", "k", "2"), List.of("ZPOPMAX", "k"),
                List.of("ZUNION", "2", "k", "o"), List.of("ZMPOP", "2", "k", "o", "MIN", "COUNT", "3"),
                List.of("ZRANGEBYSCORE", "k", "-inf", "+inf"), List.of("ZCARD", "k"));
    }
}
