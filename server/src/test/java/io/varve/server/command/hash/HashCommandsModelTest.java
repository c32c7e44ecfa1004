package io.varve.server.command.hash;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random commands on a hash, compared with a map. Confined to the test's thread. Hashes are packed, trees, and in
 * transition.
 */
class HashCommandsModelTest {
    private static final int STEPS = 20_000;

    private final Map<String, String> model = new TreeMap<>();

    @ParameterizedTest
    @CsvSource({"0, 0, 10", "1, 8192, 10", "9, 8192, 20", "128, 300, 60", "128, 8192, 200", "1000000, 67108864, 60",
            "9, 8192, 3000"})
    void randomCommandsMatchTheModel(int entries, int bytes, int fields) {
        long seed = TestBudget.seed("varve.model.seed");
        String how = "HashCommandsModelTest packed-max-entries " + entries + ", seed " + seed;
        System.out.println(how);
        SplittableRandom random = new SplittableRandom(seed);
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2")
                .with("packed-max-entries", Integer.toString(entries))
                .with("packed-max-bytes", Integer.toString(bytes));
        try (CommandHarness server = new CommandHarness(config)) {
            for (int step = 0; step < STEPS; step++) {
                String field = field(random, fields);
                switch (random.nextInt(8)) {
                    case 0, 1 -> set(server, List.of(field), random);
                    case 2 -> set(server, someFields(random, fields), random);
                    case 3 -> delete(server, List.of(field));
                    case 4 -> delete(server, someFields(random, fields));
                    case 5 -> assertThat(server.run("HGET", "h", field)).isEqualTo(bulk(model.get(field)));
                    case 6 -> {
                        boolean there = model.containsKey(field);
                        assertThat(server.run("HSETNX", "h", field, "nx")).isEqualTo(there ? ":0\r\n" : ":1\r\n");
                        model.putIfAbsent(field, "nx");
                    }
                    default -> assertThat(server.run("HLEN", "h")).isEqualTo(":" + model.size() + "\r\n");
                }
                if (step % 500 == 0) {
                    compare(server, how);
                }
                if (random.nextInt(2000) == 0) {
                    server.run("DEL", "h");
                    model.clear();
                }
            }
            compare(server, how);
        }
    }

    private static String field(SplittableRandom random, int fields) {
        int number = random.nextInt(fields);
        return number == 0 ? "" : number % 17 == 0 ? "long".repeat(50) + number : "f" + number;
    }

    private static List<String> someFields(SplittableRandom random, int fields) {
        List<String> some = new ArrayList<>();
        for (int i = random.nextInt(1, 9); i > 0; i--) {
            some.add(field(random, fields));
        }
        return some;
    }

    private void set(CommandHarness server, List<String> fields, SplittableRandom random) {
        List<String> words = new ArrayList<>(List.of("HSET", "h"));
        int before = model.size();
        for (String field : fields) {
            String value = "v".repeat(random.nextInt(20) == 0 ? random.nextInt(2000) : random.nextInt(9))
                    + random.nextInt(100);
            words.add(field);
            words.add(value);
            model.put(field, value);
        }
        assertThat(server.run(words.toArray(String[]::new))).isEqualTo(":" + (model.size() - before) + "\r\n");
    }

    private void delete(CommandHarness server, List<String> fields) {
        List<String> words = new ArrayList<>(List.of("HDEL", "h"));
        words.addAll(fields);
        int before = model.size();
        fields.forEach(model::remove);
        assertThat(server.run(words.toArray(String[]::new))).isEqualTo(":" + (before - model.size()) + "\r\n");
    }

    private static String bulk(@org.jspecify.annotations.Nullable String text) {
        return text == null ? "$-1\r\n" : "$" + text.length() + "\r\n" + text + "\r\n";
    }

    private void compare(CommandHarness server, String how) {
        assertThat(server.cache().checkIntegrity()).as(how).isEmpty();
        String[] lines = server.run("HGETALL", "h").split("\r\n", -1);
        Map<String, String> all = new TreeMap<>();
        for (int i = 2; i < lines.length - 1; i += 4) {
            assertThat(all.put(lines[i], lines[i + 2])).as(how).isNull();
        }
        assertThat(all).as(how).isEqualTo(model);
        assertThat(server.run("EXISTS", "h")).isEqualTo(model.isEmpty() ? ":0\r\n" : ":1\r\n");
    }
}
