package io.varve.server.command.hash;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.varve.server.command.hash.FieldTimesModel.Field;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.hash.FieldTimesModel.NEVER;

/** The rules of HSETEX, HGETEX and HGETDEL as a Valkey 9.1 answers them. Immutable: static methods only. */
final class TimedFieldRules {
    private static final int NONE = -1;
    private static final BigInteger LATEST = BigInteger.TWO.pow(46).subtract(BigInteger.ONE);
    private static final Map<String, Integer> UNITS = Map.of("EX", 1000, "PX", 1, "EXAT", 1000, "PXAT", 1);
    private static final ExpectedReply WRONG_COUNT = ExpectedReply
            .error("ERR numfields should be greater than 0 and match the provided number of fields");
    private static final ExpectedReply SYNTAX = ExpectedReply.error("ERR syntax error");
    private static final ExpectedReply NOT_AN_INTEGER = ExpectedReply
            .error("ERR value is not an integer or out of range");

    private TimedFieldRules() {}

    static boolean isRuleFor(String command) {
        return Set.of("HSETEX", "HGETEX", "HGETDEL").contains(command);
    }

    private static int wordFields(List<String> words) {
        for (int i = 2; i < words.size() - 1; i++) {
            if (words.get(i).equalsIgnoreCase("FIELDS")) {
                return i;
            }
        }
        return NONE;
    }

    /** The options in front of FIELDS, a time behind its unit; null if they contradict each other. */
    private static @Nullable Map<String, String> options(List<String> words, int end) {
        boolean sets = words.getFirst().equals("HSETEX");
        Set<String> flags = sets ? Set.of("NX", "XX", "FNX", "FXX", "KEEPTTL") : Set.of("PERSIST");
        Map<String, String> options = new HashMap<>();
        for (int i = 2; i < end; i++) {
            String word = words.get(i).toUpperCase(Locale.ROOT);
            if (UNITS.containsKey(word) && i + 1 < end) {
                options.put(word, words.get(++i));
            } else if (flags.contains(word)) {
                options.put(word, "");
            } else {
                return null;
            }
        }
        Set<String> given = options.keySet();
        long times = given.stream().filter(UNITS::containsKey).count();
        boolean contradict = given.containsAll(Set.of("NX", "XX")) || given.containsAll(Set.of("FNX", "FXX"))
                || times > 1 || times == 1 && (given.contains("KEEPTTL") || given.contains("PERSIST"));
        return contradict ? null : options;
    }

    /** The error that comes before one about the type of the key, or null. */
    static @Nullable ExpectedReply problem(List<String> words) {
        int width = words.getFirst().equals("HSETEX") ? 2 : 1;
        if (words.getFirst().equals("HGETDEL") && !words.get(2).equalsIgnoreCase("FIELDS")) {
            return SYNTAX;
        }
        int at = wordFields(words);
        if (at == NONE) {
            return WRONG_COUNT;
        }
        if (options(words, at) == null) {
            return SYNTAX;
        }
        Long count = FieldTimesRules.integer(words.get(at + 1));
        if (count == null) {
            return NOT_AN_INTEGER;
        }
        int arguments = words.size() - at - 2;
        return count < 1 || arguments % width != 0 || count != arguments / width ? WRONG_COUNT : null;
    }

    /**
     * The reply if there is no {@link #problem}.
     *
     * @param fields of a hash, which has none if it is not there; may be changed
     */
    static ExpectedReply answer(List<String> words, Map<String, Field> fields, long now) {
        int at = wordFields(words);
        Map<String, String> options = Objects.requireNonNull(options(words, at));
        if (options.containsKey(fields.isEmpty() ? "XX" : "NX")) {
            return ExpectedReply.integer(0);
        }
        Long time = null;
        for (Map.Entry<String, String> option : options.entrySet()) {
            if (UNITS.containsKey(option.getKey())) {
                Long number = FieldTimesRules.integer(option.getValue());
                if (number == null) {
                    return NOT_AN_INTEGER;
                }
                BigInteger exact = BigInteger.valueOf(number).multiply(BigInteger.valueOf(UNITS.get(option.getKey())))
                        .add(BigInteger.valueOf(option.getKey().endsWith("AT") ? 0 : now));
                if (number < 0 || exact.compareTo(LATEST) > 0) {
                    return ExpectedReply.error("ERR invalid expire time in '"
                            + words.getFirst().toLowerCase(Locale.ROOT) + "' command");
                }
                time = exact.longValue();
            }
        }
        List<String> rest = words.subList(at + 2, words.size());
        return switch (words.getFirst()) {
            case "HSETEX" -> set(rest, options.keySet(), time, fields, now);
            case "HGETEX" -> get(rest, options.containsKey("PERSIST"), time, fields, now);
            default -> get(rest, false, 0L, fields, now);
        };
    }

    private static ExpectedReply set(List<String> pairs, Set<String> options, @Nullable Long time,
            Map<String, Field> fields, long now) {
        for (int i = 0; i < pairs.size(); i += 2) {
            boolean there = fields.containsKey(pairs.get(i));
            if (options.contains("FNX") && there || options.contains("FXX") && !there) {
                return ExpectedReply.integer(0);
            }
        }
        for (int i = 0; i < pairs.size(); i += 2) {
            Field old = fields.get(pairs.get(i));
            Field field = new Field(pairs.get(i + 1));
            field.time = time != null ? time : old != null && options.contains("KEEPTTL") ? old.time : NEVER;
            fields.put(pairs.get(i), field);
        }
        for (int i = 0; time != null && time <= now && i < pairs.size(); i += 2) {
            fields.remove(pairs.get(i));
        }
        return ExpectedReply.integer(1);
    }

    private static ExpectedReply get(List<String> names, boolean persists, @Nullable Long time,
            Map<String, Field> fields, long now) {
        List<String> replies = new ArrayList<>();
        for (String name : names) {
            Field field = fields.get(name);
            replies.add(field == null ? ExpectedReply.NIL : "$" + field.value);
            if (field != null && time != null && time <= now) {
                fields.remove(name);
            } else if (field != null && (persists || time != null)) {
                field.time = persists || time == null ? NEVER : time;
            }
        }
        return ExpectedReply.of(replies);
    }
}
