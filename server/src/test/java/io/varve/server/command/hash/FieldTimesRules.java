package io.varve.server.command.hash;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.varve.server.command.hash.FieldTimesModel.Field;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.hash.FieldTimesModel.NEVER;

/**
 * The rules of HEXPIRE, HTTL, HPERSIST and their relatives according to the documentation of Redis. Immutable: static
 * methods only.
 */
final class FieldTimesRules {
    private static final BigInteger LATEST = BigInteger.TWO.pow(46).subtract(BigInteger.ONE);
    private static final Set<String> CONDITIONS = Set.of("NX", "XX", "GT", "LT");
    private static final String NO_FIELDS = "ERR Mandatory argument FIELDS is missing or not at the right position";

    private FieldTimesRules() {}

    /** The number that a word is, as Redis reads one, or null. */
    static @Nullable Long integer(String word) {
        if (!word.matches("0|-?[1-9][0-9]{0,18}")) {
            return null;
        }
        BigInteger number = new BigInteger(word);
        return number.bitLength() < Long.SIZE ? number.longValue() : null;
    }

    /** @param fields of a hash, which has none if it is not there; may be changed */
    static ExpectedReply answer(List<String> words, Map<String, Field> fields, long now) {
        return switch (words.getFirst()) {
            case "HEXPIRE" -> expire(words, fields, now, 1000, now);
            case "HPEXPIRE" -> expire(words, fields, now, 1, now);
            case "HEXPIREAT" -> expire(words, fields, now, 1000, 0);
            case "HPEXPIREAT" -> expire(words, fields, now, 1, 0);
            case "HTTL" -> ttl(words, fields, now, 1000);
            case "HPTTL" -> ttl(words, fields, now, 1);
            case "HEXPIRETIME" -> ttl(words, fields, 0, 1000);
            case "HPEXPIRETIME" -> ttl(words, fields, 0, 1);
            case "HPERSIST" -> persist(words, fields);
            default -> throw new IllegalArgumentException(words.toString());
        };
    }

    private static ExpectedReply expire(List<String> words, Map<String, Field> fields, long now, int unit, long base) {
        Long number = integer(words.get(2));
        if (number == null) {
            return ExpectedReply.error("ERR value is not an integer or out of range");
        }
        if (number < 0) {
            return ExpectedReply.error("ERR invalid expire time, must be >= 0");
        }
        BigInteger exact = BigInteger.valueOf(number).multiply(BigInteger.valueOf(unit)).add(BigInteger.valueOf(base));
        if (exact.compareTo(LATEST) > 0) {
            return ExpectedReply.error(
                    "ERR invalid expire time in '" + words.getFirst().toLowerCase(Locale.ROOT) + "' command");
        }
        String condition = words.get(3).toUpperCase(Locale.ROOT);
        boolean isConditional = CONDITIONS.contains(condition);
        int from = isConditional ? 4 : 3;
        ExpectedReply problem = problem(words, from, "ERR Parameter `numFields` should be greater than 0");
        if (problem != null) {
            return problem;
        }
        long at = exact.longValue();
        List<Long> replies = new ArrayList<>();
        for (String name : words.subList(from + 2, words.size())) {
            Field field = fields.get(name);
            if (field == null) {
                replies.add(-2L);
            } else if (isConditional && !isMet(condition, field.time, at)) {
                replies.add(0L);
            } else if (at <= now) {
                fields.remove(name);
                replies.add(2L);
            } else {
                field.time = at;
                replies.add(1L);
            }
        }
        return ExpectedReply.integers(replies);
    }

    /** A field without a time counts as one that stays for ever. */
    private static boolean isMet(String condition, long old, long at) {
        return switch (condition) {
            case "NX" -> old == NEVER;
            case "XX" -> old != NEVER;
            case "GT" -> old != NEVER && at > old;
            default -> old == NEVER || at < old;
        };
    }

    /** The error for the word FIELDS and the number behind it, if any. */
    private static @Nullable ExpectedReply problem(List<String> words, int from, String notPositive) {
        if (!words.get(from).equalsIgnoreCase("FIELDS")) {
            return ExpectedReply.error(NO_FIELDS);
        }
        Long count = integer(words.get(from + 1));
        if (count == null || count < 1) {
            return ExpectedReply.error(notPositive);
        }
        return count != words.size() - from - 2
                ? ExpectedReply.error("ERR The `numfields` parameter must match the number of arguments")
                : null;
    }

    private static ExpectedReply ttl(List<String> words, Map<String, Field> fields, long base, int unit) {
        ExpectedReply problem = problem(words, 2, "ERR Number of fields must be a positive integer");
        if (problem != null) {
            return problem;
        }
        List<Long> replies = new ArrayList<>();
        for (String name : words.subList(4, words.size())) {
            Field field = fields.get(name);
            replies.add(field == null ? -2L : field.time == NEVER ? -1L : (field.time - base + unit - 1) / unit);
        }
        return ExpectedReply.integers(replies);
    }

    private static ExpectedReply persist(List<String> words, Map<String, Field> fields) {
        ExpectedReply problem = problem(words, 2, "ERR Number of fields must be a positive integer");
        if (problem != null) {
            return problem;
        }
        List<Long> replies = new ArrayList<>();
        for (String name : words.subList(4, words.size())) {
            Field field = fields.get(name);
            replies.add(field == null ? -2L : field.time == NEVER ? -1L : 1L);
            if (field != null) {
                field.time = NEVER;
            }
        }
        return ExpectedReply.integers(replies);
    }
}
