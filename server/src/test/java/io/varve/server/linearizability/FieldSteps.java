package io.varve.server.linearizability;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.varve.server.linearizability.StoreState.Field;

/**
 * The specification of commands on the fields of hashes and their expiry times: effects and replies. Immutable: static
 * methods only.
 *
 * <p>Times are set by HPEXPIREAT only: they are far in the future, or past, so that no clock affects a reply.
 */
final class FieldSteps {
    /** The time of a field that has none. */
    static final long NEVER = -1;
    private static final long NOW = 1_000_000_000_000L;
    private static final int ARGUMENTS_BEHIND_FIELDS = 2;

    /** The result of a command. */
    record Step(boolean changes, String reply) {}

    private FieldSteps() {}

    /** @param fields is changed; without fields there is no hash */
    static Step apply(List<String> words, Map<String, Field> fields) {
        String third = words.size() > 2 ? words.get(2) : "";
        Field field = fields.get(third);
        return switch (words.getFirst()) {
            case "HGET" -> new Step(false, field == null ? StoreState.NIL : "$" + field.value());
            case "HLEN" -> new Step(false, ":" + fields.size());
            case "HGETALL" -> new Step(false, StoreState.array(fields.entrySet().stream()
                    .flatMap(each -> List.of("$" + each.getKey(), "$" + each.getValue().value()).stream()).sorted()
                    .toList()));
            case "HSET" -> {
                fields.put(third, new Field(words.get(3), NEVER));
                yield new Step(true, field == null ? ":1" : ":0");
            }
            case "HDEL" -> {
                fields.remove(third);
                yield new Step(field != null, field == null ? ":0" : ":1");
            }
            case "HINCRBY" -> {
                String sum = Long.toString((field == null ? 0 : Long.parseLong(field.value())) + 1);
                fields.put(third, new Field(sum, field == null ? NEVER : field.time()));
                yield new Step(true, ":" + sum);
            }
            default -> ofTimes(words, fields);
        };
    }

    private static Step ofTimes(List<String> words, Map<String, Field> fields) {
        boolean changes = false;
        List<String> replies = new ArrayList<>();
        for (String name : words.subList(words.indexOf("FIELDS") + ARGUMENTS_BEHIND_FIELDS, words.size())) {
            Field field = fields.get(name);
            int reply = field == null ? -2 : switch (words.getFirst()) {
                case "HPEXPIREAT" -> expire(words, fields, name, field);
                case "HPERSIST" -> persist(fields, name, field);
                default -> 0;
            };
            changes |= reply > 0;
            replies.add(":" + (field != null && words.getFirst().equals("HPEXPIRETIME") ? field.time() : reply));
        }
        return new Step(changes, StoreState.array(replies));
    }

    private static int expire(List<String> words, Map<String, Field> fields, String name, Field field) {
        long at = Long.parseLong(words.get(2));
        boolean has = field.time() != NEVER;
        boolean allowed = switch (words.get(3)) {
            case "NX" -> !has;
            case "XX" -> has;
            case "GT" -> has && at > field.time();
            case "LT" -> !has || at < field.time();
            default -> true;
        };
        if (!allowed) {
            return 0;
        }
        if (at < NOW) {
            fields.remove(name);
            return 2;
        }
        fields.put(name, new Field(field.value(), at));
        return 1;
    }

    private static int persist(Map<String, Field> fields, String name, Field field) {
        if (field.time() == NEVER) {
            return -1;
        }
        fields.put(name, new Field(field.value(), NEVER));
        return 1;
    }
}
