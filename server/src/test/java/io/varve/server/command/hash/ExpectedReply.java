package io.varve.server.command.hash;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The replies that a model allows for a command. Immutable.
 *
 * <p>A reply is a word (the protocol's type byte and the text), {@code nil}, or a list of replies.
 */
sealed interface ExpectedReply {
    String NIL = "nil";

    boolean allows(Object reply);

    static ExpectedReply of(Object reply) {
        return new Exactly(reply);
    }

    static ExpectedReply integer(long number) {
        return new Exactly(":" + number);
    }

    static ExpectedReply integers(List<Long> numbers) {
        return new Exactly(numbers.stream().map(number -> ":" + number).toList());
    }

    static ExpectedReply error(String text) {
        return new Exactly("-" + text);
    }

    /** Exactly this reply. */
    record Exactly(Object reply) implements ExpectedReply {
        @Override
        public boolean allows(Object other) {
            return reply.equals(other);
        }
    }

    /** The replies of a transaction, one per command. */
    record Each(List<ExpectedReply> replies) implements ExpectedReply {
        public Each {
            replies = List.copyOf(replies);
        }

        @Override
        public boolean allows(Object other) {
            if (!(other instanceof List<?> list) || list.size() != replies.size()) {
                return false;
            }
            for (int i = 0; i < list.size(); i++) {
                if (!replies.get(i).allows(list.get(i))) {
                    return false;
                }
            }
            return true;
        }
    }

    /** These bulk strings in any order of groups of {@code width}. */
    record AnyOrder(List<String> bulks, int width) implements ExpectedReply {
        public AnyOrder {
            bulks = List.copyOf(bulks);
        }

        @Override
        public boolean allows(Object other) {
            return other instanceof List<?> list && groups(list).equals(groups(bulks));
        }

        private List<String> groups(List<?> list) {
            List<String> groups = new ArrayList<>();
            for (int i = 0; i < list.size(); i += width) {
                groups.add(list.subList(i, Math.min(list.size(), i + width)).toString());
            }
            Collections.sort(groups);
            return groups;
        }
    }

    /** Fields of the given ones, a given number; distinct unless repetition is allowed. */
    record Picked(Map<String, String> from, int count, boolean repeats, boolean withValues) implements ExpectedReply {
        public Picked {
            from = Map.copyOf(from);
        }

        @Override
        public boolean allows(Object other) {
            int width = withValues ? 2 : 1;
            if (!(other instanceof List<?> list) || list.size() != width * count) {
                return false;
            }
            Set<Object> fields = new HashSet<>();
            for (int i = 0; i < list.size(); i += width) {
                Object field = list.get(i);
                fields.add(field);
                if (!from.containsKey(field) || withValues && !list.get(i + 1).equals(from.get(field))) {
                    return false;
                }
            }
            return repeats || fields.size() == count;
        }
    }

    /** One of these. */
    record AnyOf(Set<String> replies) implements ExpectedReply {
        public AnyOf {
            replies = Set.copyOf(replies);
        }

        @Override
        public boolean allows(Object other) {
            return replies.contains(other);
        }
    }

    // --- what came

    /** A reply of RESP2 as it came. */
    static Object parse(String bytes) {
        int[] at = {0};
        Object reply = parse(bytes, at);
        return at[0] == bytes.length() ? reply : "something behind " + reply;
    }

    private static Object parse(String bytes, int[] at) {
        int end = bytes.indexOf("\r\n", at[0]);
        String line = bytes.substring(at[0], end);
        at[0] = end + 2;
        if (line.equals("$-1") || line.equals("*-1")) {
            return NIL;
        }
        if (line.startsWith("$")) {
            int start = at[0];
            at[0] += Integer.parseInt(line.substring(1)) + 2;
            return "$" + bytes.substring(start, at[0] - 2);
        }
        if (!line.startsWith("*")) {
            return line;
        }
        List<Object> list = new ArrayList<>();
        for (int left = Integer.parseInt(line.substring(1)); left > 0; left--) {
            list.add(parse(bytes, at));
        }
        return list;
    }
}
