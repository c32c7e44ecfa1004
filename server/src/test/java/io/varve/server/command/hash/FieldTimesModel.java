package io.varve.server.command.hash;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.varve.server.command.hash.ExpectedReply.AnyOf;
import io.varve.server.command.hash.ExpectedReply.AnyOrder;
import io.varve.server.command.hash.ExpectedReply.Each;
import io.varve.server.command.hash.ExpectedReply.Picked;
import org.jspecify.annotations.Nullable;

/**
 * A model of hashes whose fields have expiry times, with the replies to one client according to the documentation of
 * Redis. Confined to its user. Expired fields are removed before each command.
 *
 * <p>{@link FieldTimesRules} and {@link TimedFieldRules} have the replies of the commands on expiry times.
 */
final class FieldTimesModel {
    static final long NEVER = -1;
    static final String WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
    private static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";
    /** As the table of commands has it: negative is at least so many words. */
    private static final Map<String, Integer> ARITIES = Map.ofEntries(Map.entry("HSET", -4), Map.entry("HSETNX", 4),
            Map.entry("HDEL", -3), Map.entry("HGET", 3), Map.entry("HMGET", -3), Map.entry("HLEN", 2),
            Map.entry("HEXISTS", 3), Map.entry("HSTRLEN", 3), Map.entry("HINCRBY", 4), Map.entry("HINCRBYFLOAT", 4),
            Map.entry("HGETALL", 2), Map.entry("HKEYS", 2), Map.entry("HVALS", 2), Map.entry("HRANDFIELD", -2),
            Map.entry("HEXPIRE", -6), Map.entry("HPEXPIRE", -6), Map.entry("HEXPIREAT", -6),
            Map.entry("HPEXPIREAT", -6), Map.entry("HTTL", -5), Map.entry("HPTTL", -5), Map.entry("HEXPIRETIME", -5),
            Map.entry("HPEXPIRETIME", -5), Map.entry("HPERSIST", -5), Map.entry("HSETEX", -6),
            Map.entry("HGETEX", -5), Map.entry("HGETDEL", -5), Map.entry("DEL", -2), Map.entry("EXISTS", -2),
            Map.entry("TYPE", 2), Map.entry("PEXPIRE", -3), Map.entry("PERSIST", 2), Map.entry("PTTL", 2),
            Map.entry("RENAME", 3), Map.entry("COPY", -3), Map.entry("SET", -3), Map.entry("MULTI", 1),
            Map.entry("EXEC", 1), Map.entry("DISCARD", 1));

    /** A field. Confined to the model. */
    static final class Field {
        String value;
        long time = NEVER;

        Field(String value) {
            this.value = value;
        }

        Field copy() {
            Field copy = new Field(value);
            copy.time = time;
            return copy;
        }
    }

    /** The value of a key: a hash, or a string if there are no fields. Confined to the model. */
    private static final class Value {
        private final Map<String, Field> fields = new TreeMap<>();
        private final boolean isHash;
        private long expireAt = NEVER;

        Value(boolean isHash) {
            this.isHash = isHash;
        }

        Value copy() {
            Value copy = new Value(isHash);
            fields.forEach((name, field) -> copy.fields.put(name, field.copy()));
            copy.expireAt = expireAt;
            return copy;
        }
    }

    private final Map<String, Value> values = new HashMap<>();
    private @Nullable List<List<String>> queued;
    private boolean broken;
    private long now;

    /** The reply to a command at a time. */
    ExpectedReply answer(List<String> words, long nowMillis) {
        pass(nowMillis);
        String name = words.getFirst();
        int arity = Objects.requireNonNull(ARITIES.get(name), name);
        if (arity > 0 ? words.size() != arity : words.size() < -arity) {
            broken |= queued != null;
            return name.equals("EXEC") ? abort() : wrongCount(name);
        }
        return switch (name) {
            case "MULTI" -> {
                if (queued != null) {
                    yield ExpectedReply.error("ERR MULTI calls can not be nested");
                }
                queued = new ArrayList<>();
                yield ExpectedReply.of("+OK");
            }
            case "EXEC" -> execute();
            case "DISCARD" -> {
                boolean isOpen = queued != null;
                queued = null;
                broken = false;
                yield isOpen ? ExpectedReply.of("+OK") : ExpectedReply.error("ERR DISCARD without MULTI");
            }
            default -> {
                if (queued == null) {
                    yield call(words);
                }
                queued.add(words);
                yield ExpectedReply.of("+QUEUED");
            }
        };
    }

    /** Whether commands wait for EXEC. */
    boolean isInTransaction() {
        return queued != null;
    }

    int keys() {
        return values.size();
    }

    void pass(long nowMillis) {
        now = nowMillis;
        values.values().removeIf(value -> {
            value.fields.values().removeIf(field -> field.time != NEVER && now > field.time);
            return value.isHash && value.fields.isEmpty() || value.expireAt != NEVER && now > value.expireAt;
        });
    }

    private static ExpectedReply wrongCount(String name) {
        return ExpectedReply
                .error("ERR wrong number of arguments for '" + name.toLowerCase(Locale.ROOT) + "' command");
    }

    private ExpectedReply abort() {
        queued = null;
        broken = false;
        return ExpectedReply
                .error("EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command");
    }

    private ExpectedReply execute() {
        List<List<String>> calls = queued;
        boolean isBroken = broken;
        queued = null;
        broken = false;
        if (calls == null) {
            return ExpectedReply.error("ERR EXEC without MULTI");
        }
        return isBroken
                ? ExpectedReply.error("EXECABORT Transaction discarded because of previous errors.")
                : new Each(calls.stream().map(this::call).toList());
    }

    private ExpectedReply call(List<String> words) {
        String key = words.get(1);
        return switch (words.getFirst()) {
            case "DEL" -> ExpectedReply.integer(values.remove(key) == null ? 0 : 1);
            case "EXISTS" -> ExpectedReply.integer(values.containsKey(key) ? 1 : 0);
            case "TYPE" -> ExpectedReply.of(!values.containsKey(key) ? "+none" : isHash(key) ? "+hash" : "+string");
            case "PTTL" -> {
                Value value = values.get(key);
                yield ExpectedReply.integer(value == null
                        ? -2
                        : value.expireAt == NEVER ? -1 : value.expireAt - now);
            }
            case "PEXPIRE" -> expire(key, Long.parseLong(words.get(2)));
            case "PERSIST" -> {
                Value value = values.get(key);
                boolean had = value != null && value.expireAt != NEVER;
                if (value != null) {
                    value.expireAt = NEVER;
                }
                yield ExpectedReply.integer(had ? 1 : 0);
            }
            case "RENAME" -> rename(key, words.get(2));
            case "COPY" -> copy(key, words);
            case "SET" -> {
                values.put(key, new Value(false));
                yield ExpectedReply.of("+OK");
            }
            case "HINCRBY", "HINCRBYFLOAT" -> increment(words);
            default -> values.containsKey(key) && !isHash(key) && !isSyntaxFirst(words)
                    ? ExpectedReply.error(WRONG_TYPE)
                    : onHash(words);
        };
    }

    boolean isHash(String key) {
        Value value = values.get(key);
        return value == null || value.isHash;
    }

    /** Whether what is wrong with the words is said before what is wrong with the type. */
    private static boolean isSyntaxFirst(List<String> words) {
        return words.getFirst().equals("HSET") && words.size() % 2 == 1
                || TimedFieldRules.isRuleFor(words.getFirst()) && TimedFieldRules.problem(words) != null
                || words.getFirst().equals("HRANDFIELD") && words.size() > 2 && randomProblem(words) != null;
    }

    // --- keys

    private ExpectedReply expire(String key, long millis) {
        Value value = values.get(key);
        if (value == null) {
            return ExpectedReply.integer(0);
        }
        if (millis <= 0) {
            values.remove(key);
        } else {
            value.expireAt = now + millis;
        }
        return ExpectedReply.integer(1);
    }

    private ExpectedReply rename(String from, String to) {
        Value value = values.remove(from);
        if (value == null) {
            return ExpectedReply.error("ERR no such key");
        }
        values.put(to, value);
        return ExpectedReply.of("+OK");
    }

    private ExpectedReply copy(String from, List<String> words) {
        String to = words.get(2);
        if (from.equals(to)) {
            return ExpectedReply.error("ERR source and destination objects are the same");
        }
        Value value = values.get(from);
        if (value == null || words.size() == 3 && values.containsKey(to)) {
            return ExpectedReply.integer(0);
        }
        values.put(to, value.copy());
        return ExpectedReply.integer(1);
    }

    /** The milliseconds that a key lives yet, to restore it with; 0: no end; {@link #NEVER}: it is not there. */
    long ttlToRestoreWith(String key) {
        Value value = values.get(key);
        return value == null ? NEVER : value.expireAt == NEVER ? 0 : Math.max(1, value.expireAt - now);
    }

    /** Whether any field of a key has a time. */
    boolean hasTimes(String key) {
        return fields(key).values().stream().anyMatch(field -> field.time != NEVER);
    }

    /** Copies a key's content to another, as by DUMP and RESTORE. */
    void restored(String from, String to, long ttlMillis) {
        Value copy = Objects.requireNonNull(values.get(from)).copy();
        copy.expireAt = ttlMillis == 0 ? NEVER : now + ttlMillis;
        values.put(to, copy);
    }

    // --- hashes

    private Map<String, Field> fields(String key) {
        Value value = values.get(key);
        return value == null ? Map.of() : value.fields;
    }

    private Map<String, Field> fieldsToWrite(String key) {
        return values.computeIfAbsent(key, _ -> new Value(true)).fields;
    }

    private void forgetIfEmpty(String key) {
        if (fields(key).isEmpty()) {
            values.remove(key);
        }
    }

    /** The fields of a key by name, as they are replied. */
    Map<String, String> contents(String key) {
        return fields(key).entrySet().stream()
                .collect(Collectors.toMap(each -> "$" + each.getKey(), each -> "$" + each.getValue().value));
    }

    private ExpectedReply onHash(List<String> words) {
        String key = words.get(1);
        List<String> rest = words.subList(2, words.size());
        Map<String, Field> fields = fields(key);
        return switch (words.getFirst()) {
            case "HSET" -> words.size() % 2 == 1 ? wrongCount("HSET") : set(key, rest);
            case "HSETNX" -> {
                boolean there = fields.containsKey(rest.getFirst());
                fieldsToWrite(key).computeIfAbsent(rest.getFirst(), _ -> new Field(rest.getLast()));
                yield ExpectedReply.integer(there ? 0 : 1);
            }
            case "HDEL" -> {
                long gone = rest.stream().filter(name -> !fields.isEmpty() && fields.remove(name) != null).count();
                forgetIfEmpty(key);
                yield ExpectedReply.integer(gone);
            }
            case "HGET" -> ExpectedReply.of(bulk(fields.get(rest.getFirst())));
            case "HMGET" -> ExpectedReply.of(rest.stream().map(name -> bulk(fields.get(name))).toList());
            case "HLEN" -> ExpectedReply.integer(fields.size());
            case "HEXISTS" -> ExpectedReply.integer(fields.containsKey(rest.getFirst()) ? 1 : 0);
            case "HSTRLEN" -> {
                Field field = fields.get(rest.getFirst());
                yield ExpectedReply.integer(field == null ? 0 : field.value.length());
            }
            case "HGETALL" -> {
                List<String> all = new ArrayList<>();
                contents(key).forEach((name, value) -> all.addAll(List.of(name, value)));
                yield new AnyOrder(all, 2);
            }
            case "HKEYS" -> new AnyOrder(List.copyOf(contents(key).keySet()), 1);
            case "HVALS" -> new AnyOrder(List.copyOf(contents(key).values()), 1);
            case "HRANDFIELD" -> pick(key, words);
            case "HSETEX", "HGETEX", "HGETDEL" -> {
                ExpectedReply problem = TimedFieldRules.problem(words);
                ExpectedReply reply = problem != null
                        ? problem
                        : TimedFieldRules.answer(words, fieldsToWrite(key), now);
                if (problem == null) {
                    forgetIfEmpty(key);
                }
                yield reply;
            }
            default -> {
                ExpectedReply reply = FieldTimesRules.answer(words, fields, now);
                forgetIfEmpty(key);
                yield reply;
            }
        };
    }

    private static String bulk(@Nullable Field field) {
        return field == null ? ExpectedReply.NIL : "$" + field.value;
    }

    private ExpectedReply set(String key, List<String> pairs) {
        Map<String, Field> fields = fieldsToWrite(key);
        int before = fields.size();
        for (int i = 0; i < pairs.size(); i += 2) {
            fields.put(pairs.get(i), new Field(pairs.get(i + 1)));
        }
        return ExpectedReply.integer(fields.size() - before);
    }

    private static @Nullable ExpectedReply randomProblem(List<String> words) {
        if (FieldTimesRules.integer(words.get(2)) == null) {
            return ExpectedReply.error(NOT_AN_INTEGER);
        }
        return words.size() > 4 || words.size() == 4 && !words.get(3).equalsIgnoreCase("WITHVALUES")
                ? ExpectedReply.error("ERR syntax error")
                : null;
    }

    private ExpectedReply pick(String key, List<String> words) {
        Map<String, String> all = contents(key);
        if (words.size() == 2) {
            return new AnyOf(all.isEmpty() ? Set.of(ExpectedReply.NIL) : all.keySet());
        }
        ExpectedReply problem = randomProblem(words);
        if (problem != null) {
            return problem;
        }
        int count = Integer.parseInt(words.get(2));
        int picked = all.isEmpty() ? 0 : count < 0 ? -count : Math.min(count, all.size());
        return new Picked(all, picked, count < 0, words.size() == 4);
    }

    private ExpectedReply increment(List<String> words) {
        boolean floats = words.getFirst().equals("HINCRBYFLOAT");
        String delta = words.get(3);
        if (floats && delta.equals("x")) {
            return ExpectedReply.error("ERR value is not a valid float");
        }
        if (!floats && FieldTimesRules.integer(delta) == null) {
            return ExpectedReply.error(NOT_AN_INTEGER);
        }
        String key = words.get(1);
        if (!isHash(key)) {
            return ExpectedReply.error(WRONG_TYPE);
        }
        Field field = fields(key).get(words.get(2));
        String old = field == null ? "0" : field.value;
        String sum;
        if (floats) {
            if (!old.matches("-?[0-9]+(\\.[0-9]+)?")) {
                return ExpectedReply.error("ERR hash value is not a float");
            }
            BigDecimal exact = new BigDecimal(old).add(new BigDecimal(delta)).stripTrailingZeros();
            sum = exact.signum() == 0 ? "0" : exact.toPlainString();
        } else {
            Long number = FieldTimesRules.integer(old);
            if (number == null) {
                return ExpectedReply.error("ERR hash value is not an integer");
            }
            try {
                sum = Long.toString(Math.addExact(number, Long.parseLong(delta)));
            } catch (ArithmeticException overflow) {
                return ExpectedReply.error("ERR increment or decrement would overflow");
            }
        }
        if (field == null) {
            fieldsToWrite(key).put(words.get(2), new Field(sum));
        } else {
            field.value = sum;
        }
        return ExpectedReply.of(floats ? "$" + sum : ":" + sum);
    }
}
