package io.varve.server.linearizability;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

/**
 * The state and the replies of a sequential store: the specification that histories are compared with. Immutable.
 *
 * <p>Replies are words: the protocol's type byte and the text, for an error only its first word, {@code nil}, and
 * arrays in brackets, with sets in order.
 *
 * @param values by key
 * @param watches of clients that watch something
 */
record StoreState(Map<String, Value> values, Map<Integer, Watch> watches) {
    static final StoreState EMPTY = new StoreState(Map.of(), Map.of());

    static final String NIL = "nil";
    private static final String OK = "+OK";
    private static final String WRONG_TYPE = "-WRONGTYPE";

    /** The value of a key. */
    sealed interface Value {}

    record Text(String text) implements Value {}

    record Elements(List<String> elements) implements Value {
        Elements {
            elements = List.copyOf(elements);
        }
    }

    record Members(Set<String> members) implements Value {
        Members {
            members = Set.copyOf(members);
        }
    }

    /** Fields of a hash, which may have times that are far away. */
    record Fields(Map<String, Field> fields) implements Value {
        Fields {
            fields = Map.copyOf(fields);
        }
    }

    /** A field's value and time; {@link FieldSteps#NEVER} is no time. */
    record Field(String value, long time) {}

    /** Keys that a client watches, and whether one of them has changed since. */
    record Watch(Set<String> keys, boolean broken) {
        Watch {
            keys = Set.copyOf(keys);
        }
    }

    /** The effect of a request. */
    record Step(StoreState after, String reply) {}

    Step apply(int client, Request request) {
        Draft draft = new Draft(this, client);
        String reply = request.transaction() ? draft.execute(request.calls()) : draft.call(request.calls().getFirst());
        return new Step(draft.changed ? new StoreState(draft.values, draft.watches) : this, reply);
    }

    /** The next state while a request is applied. Confined to {@link #apply}. */
    private static final class Draft {
        private final Map<String, Value> values;
        private final Map<Integer, Watch> watches;
        private final int client;
        private boolean changed;

        Draft(StoreState from, int client) {
            values = new HashMap<>(from.values);
            watches = new HashMap<>(from.watches);
            this.client = client;
        }

        String execute(List<List<String>> calls) {
            Watch watch = watches.remove(client);
            changed |= watch != null;
            if (watch != null && watch.broken()) {
                return NIL;
            }
            return array(calls.stream().map(this::call).toList());
        }

        String call(List<String> words) {
            String key = words.get(1);
            return switch (words.getFirst()) {
                case "GET" -> get(key);
                case "SET" -> set(key, words.get(2));
                case "GETSET" -> getSet(key, words.get(2));
                case "INCR" -> increment(key);
                case "APPEND" -> append(key, words.get(2));
                case "DEL" -> put(key, null) ? ":1" : ":0";
                case "MGET" -> array(words.subList(1, words.size()).stream()
                        .map(each -> values.get(each) instanceof Text text ? "$" + text.text() : NIL).toList());
                case "MSET" -> {
                    for (int i = 1; i < words.size(); i += 2) {
                        set(words.get(i), words.get(i + 1));
                    }
                    yield OK;
                }
                case "WATCH" -> watch(key);
                case "LPUSH", "LPOP", "LRANGE", "RPOPLPUSH" -> list(words);
                case "SADD", "SREM", "SCARD", "SMEMBERS" -> ofSet(words);
                case "HSET", "HDEL", "HGET", "HLEN", "HGETALL", "HINCRBY", "HPEXPIREAT", "HPERSIST", "HPEXPIRETIME" ->
                    ofHash(words);
                default -> throw new IllegalArgumentException(words.toString());
            };
        }

        /**
         * Changes a key, or, with null, takes it out, and breaks the watches of it. @return whether there was something
         * to change
         */
        private boolean put(String key, @Nullable Value value) {
            if (value == null && !values.containsKey(key)) {
                return false;
            }
            changed = true;
            if (value == null) {
                values.remove(key);
            } else {
                values.put(key, value);
            }
            watches.replaceAll(
                    (_, watch) -> watch.keys().contains(key) ? new Watch(watch.keys(), true) : watch);
            return true;
        }

        private String watch(String key) {
            Watch before = watches.getOrDefault(client, new Watch(Set.of(), false));
            Set<String> keys = new HashSet<>(before.keys());
            keys.add(key);
            watches.put(client, new Watch(keys, before.broken()));
            changed = true;
            return OK;
        }

        // --- strings

        private String get(String key) {
            return switch (values.get(key)) {
                case null -> NIL;
                case Text text -> "$" + text.text();
                default -> WRONG_TYPE;
            };
        }

        private String set(String key, String text) {
            put(key, new Text(text));
            return OK;
        }

        private String getSet(String key, String text) {
            String before = get(key);
            if (!before.equals(WRONG_TYPE)) {
                put(key, new Text(text));
            }
            return before;
        }

        private String increment(String key) {
            String before = get(key);
            if (before.equals(WRONG_TYPE)) {
                return before;
            }
            String digits = before.equals(NIL) ? "0" : before.substring(1);
            if (!digits.matches("0|[1-9][0-9]{0,17}")) {
                return "-ERR";
            }
            String after = Long.toString(Long.parseLong(digits) + 1);
            put(key, new Text(after));
            return ":" + after;
        }

        private String append(String key, String text) {
            String before = get(key);
            if (before.equals(WRONG_TYPE)) {
                return before;
            }
            String after = (before.equals(NIL) ? "" : before.substring(1)) + text;
            put(key, new Text(after));
            return ":" + after.length();
        }

        // --- lists

        private String list(List<String> words) {
            String key = words.get(1);
            if (!(values.getOrDefault(key, new Elements(List.of())) instanceof Elements list)) {
                return WRONG_TYPE;
            }
            List<String> elements = new ArrayList<>(list.elements());
            return switch (words.getFirst()) {
                case "LRANGE" -> array(elements.stream().map(element -> "$" + element).toList());
                case "LPUSH" -> {
                    elements.addFirst(words.get(2));
                    put(key, new Elements(elements));
                    yield ":" + elements.size();
                }
                case "LPOP" -> {
                    if (elements.isEmpty()) {
                        yield NIL;
                    }
                    String first = elements.removeFirst();
                    putElements(key, elements);
                    yield "$" + first;
                }
                default -> moveLast(key, elements, words.get(2));
            };
        }

        private String moveLast(String from, List<String> elements, String to) {
            if (elements.isEmpty()) {
                return NIL;
            }
            if (!(values.getOrDefault(to, new Elements(List.of())) instanceof Elements)) {
                return WRONG_TYPE;
            }
            String last = elements.removeLast();
            putElements(from, elements);
            List<String> longer = new ArrayList<>();
            longer.add(last);
            if (values.get(to) instanceof Elements there) {
                longer.addAll(there.elements());
            }
            put(to, new Elements(longer));
            return "$" + last;
        }

        private void putElements(String key, List<String> elements) {
            put(key, elements.isEmpty() ? null : new Elements(elements));
        }

        // --- sets

        private String ofSet(List<String> words) {
            String key = words.get(1);
            if (!(values.getOrDefault(key, new Members(Set.of())) instanceof Members set)) {
                return WRONG_TYPE;
            }
            Set<String> members = new TreeSet<>(set.members());
            return switch (words.getFirst()) {
                case "SCARD" -> ":" + members.size();
                case "SMEMBERS" -> array(members.stream().map(member -> "$" + member).toList());
                case "SADD" -> {
                    boolean added = members.add(words.get(2));
                    if (added) {
                        put(key, new Members(members));
                    }
                    yield added ? ":1" : ":0";
                }
                default -> {
                    boolean removed = members.remove(words.get(2));
                    if (removed) {
                        put(key, members.isEmpty() ? null : new Members(members));
                    }
                    yield removed ? ":1" : ":0";
                }
            };
        }

        // --- hashes

        private String ofHash(List<String> words) {
            String key = words.get(1);
            if (!(values.getOrDefault(key, new Fields(Map.of())) instanceof Fields hash)) {
                return WRONG_TYPE;
            }
            Map<String, Field> fields = new TreeMap<>(hash.fields());
            FieldSteps.Step step = FieldSteps.apply(words, fields);
            if (step.changes()) {
                put(key, fields.isEmpty() ? null : new Fields(fields));
            }
            return step.reply();
        }
    }

    static String array(List<String> replies) {
        return "[" + String.join(", ", replies) + "]";
    }
}
