package io.varve.experiments.run.speed;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.run.load.SequentialLoad;

/**
 * The default tests of redis-benchmark, with the same keys and commands, so that each can be measured in alternation.
 * Immutable: static methods only.
 */
public final class DefaultTests {
    private static final String ELEMENT = "element:" + SequentialLoad.PLACE;
    private static final String LIST = "mylist";
    private static final int MSET_KEYS = 10;

    private DefaultTests() {}

    /** Their names. */
    public static Set<String> names() {
        return commands("").keySet();
    }

    /** A test's command by its name; null if there is no such test. */
    static @org.jspecify.annotations.Nullable List<String> command(String name, int valueBytes) {
        return commands("x".repeat(valueBytes)).get(name);
    }

    private static Map<String, List<String>> commands(String value) {
        Map<String, List<String>> commands = new LinkedHashMap<>();
        commands.put("PING", List.of("PING"));
        commands.put("INCR", List.of("INCR", "counter:" + SequentialLoad.PLACE));
        commands.put("LPUSH", List.of("LPUSH", LIST, value));
        commands.put("RPUSH", List.of("RPUSH", LIST, value));
        commands.put("LPOP", List.of("LPOP", LIST));
        commands.put("RPOP", List.of("RPOP", LIST));
        commands.put("SADD", List.of("SADD", "myset", ELEMENT));
        commands.put("SPOP", List.of("SPOP", "myset"));
        commands.put("HSET-ONE", List.of("HSET", "myhash", ELEMENT, value));
        commands.put("ZADD", List.of("ZADD", "myzset", SequentialLoad.PLACE, ELEMENT));
        commands.put("ZPOPMIN", List.of("ZPOPMIN", "myzset"));
        for (int last : new int[] {99, 299, 499, 599}) {
            commands.put("LRANGE-" + (last + 1), List.of("LRANGE", LIST, "0", String.valueOf(last)));
        }
        List<String> mset = new ArrayList<>(List.of("MSET"));
        for (int i = 0; i < MSET_KEYS; i++) {
            mset.add("key:" + SequentialLoad.PLACE);
            mset.add(value);
        }
        commands.put("MSET", mset);
        return commands;
    }
}
