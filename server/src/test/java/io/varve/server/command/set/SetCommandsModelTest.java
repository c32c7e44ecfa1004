package io.varve.server.command.set;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random commands on sets, compared with Java sets. Confined to the test's thread. Sets are packed, of integers, trees,
 * and in transition.
 */
class SetCommandsModelTest {
    private static final int STEPS = 12_000;
    private static final int SETS = 4;

    private final List<Set<String>> model = new ArrayList<>();
    private SplittableRandom random = new SplittableRandom(0);

    @ParameterizedTest
    @CsvSource({"0, 0, 10, 512", "1, 8192, 10, 3", "9, 8192, 20, 3", "128, 300, 60, 30", "128, 8192, 200, 512",
            "1000000, 67108864, 60, 20", "9, 8192, 1500, 100"})
    void randomCommandsMatchTheModel(int entries, int bytes, int members, int integers) {
        long seed = TestBudget.seed("varve.model.seed");
        String how = "SetCommandsModelTest packed-max-entries " + entries + ", seed " + seed;
        System.out.println(how);
        random = new SplittableRandom(seed);
        for (int i = 0; i < SETS; i++) {
            model.add(new TreeSet<>());
        }
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2")
                .with("packed-max-entries", Integer.toString(entries))
                .with("packed-max-bytes", Integer.toString(bytes))
                .with("set-max-intset-entries", Integer.toString(integers));
        try (CommandHarness server = new CommandHarness(config)) {
            for (int step = 0; step < STEPS; step++) {
                step(server, members);
                if (step % 500 == 0) {
                    compare(server, how);
                }
            }
            compare(server, how);
        }
    }

    private void step(CommandHarness server, int members) {
        int number = random.nextInt(SETS);
        Set<String> set = model.get(number);
        String key = "s" + number;
        switch (random.nextInt(40)) {
            case 0, 1, 2, 3, 4, 5, 6 -> change(server, "SADD", number, some(members, 1));
            case 7, 8, 9, 10 -> change(server, "SADD", number, some(members, 9));
            case 11, 12, 13, 14, 15 -> change(server, "SREM", number, some(members, 1));
            case 16, 17, 18 -> change(server, "SREM", number, some(members, 9));
            case 19, 20, 21, 22, 23, 24 -> {
                String member = member(members);
                assertThat(server.run("SISMEMBER", key, member)).isEqualTo(set.contains(member) ? ":1\r\n" : ":0\r\n");
            }
            case 25, 26, 27, 28, 29 -> {
                int other = random.nextInt(SETS);
                String member = member(members);
                boolean moves = set.contains(member);
                assertThat(server.run("SMOVE", key, "s" + other, member)).isEqualTo(moves ? ":1\r\n" : ":0\r\n");
                if (moves) {
                    set.remove(member);
                    model.get(other).add(member);
                }
            }
            case 30, 31, 32 -> {
                int count = random.nextInt(20) == 0 ? random.nextInt(members) : random.nextInt(5);
                List<String> popped = elements(server.run("SPOP", key, Integer.toString(count)));
                assertThat(popped).hasSize(Math.min(count, set.size())).doesNotHaveDuplicates().isSubsetOf(set);
                popped.forEach(set::remove);
            }
            case 33 -> {
                int count = random.nextInt(members);
                assertThat(elements(server.run("SRANDMEMBER", key, Integer.toString(count))))
                        .hasSize(Math.min(count, set.size())).doesNotHaveDuplicates().isSubsetOf(set);
                assertThat(elements(server.run("SRANDMEMBER", key, "-" + (1 + count)))).isSubsetOf(set)
                        .hasSize(set.isEmpty() ? 0 : 1 + count);
            }
            default -> store(server, number);
        }
    }

    private String member(int members) {
        int number = random.nextInt(members);
        return switch (random.nextInt(20)) {
            case 0 -> "long".repeat(50) + number;
            case 1, 2, 3 -> "m" + number;
            default -> Long.toString(number * (number % 7 == 0 ? 100_000_000_000L : 1));
        };
    }

    private List<String> some(int members, int max) {
        List<String> some = new ArrayList<>();
        for (int i = random.nextInt(1, max + 1); i > 0; i--) {
            some.add(member(members));
        }
        return some;
    }

    private void change(CommandHarness server, String command, int number, List<String> members) {
        List<String> words = new ArrayList<>(List.of(command, "s" + number));
        words.addAll(members);
        Set<String> set = model.get(number);
        int before = set.size();
        if (command.equals("SADD")) {
            set.addAll(members);
        } else {
            members.forEach(set::remove);
        }
        assertThat(server.run(words.toArray(String[]::new)))
                .isEqualTo(":" + Math.abs(set.size() - before) + "\r\n");
    }

    private void store(CommandHarness server, int target) {
        String operation = new String[] {"SUNION", "SINTER", "SDIFF"}[random.nextInt(3)];
        List<String> keys = new ArrayList<>();
        Set<String> result = new TreeSet<>();
        for (int i = 0; i < random.nextInt(1, 8); i++) {
            int number = random.nextInt(SETS);
            Set<String> set = model.get(number);
            if (i == 0) {
                result.addAll(set);
            } else {
                switch (operation) {
                    case "SUNION" -> result.addAll(set);
                    case "SINTER" -> result.retainAll(set);
                    default -> result.removeAll(set);
                }
            }
            keys.add("s" + number);
        }
        List<String> read = new ArrayList<>(List.of(operation));
        read.addAll(keys);
        List<String> elements = elements(server.run(read.toArray(String[]::new)));
        assertThat(elements).doesNotHaveDuplicates();
        assertThat(new TreeSet<>(elements)).isEqualTo(result);
        keys.addAll(0, List.of(operation + "STORE", "s" + target));
        assertThat(server.run(keys.toArray(String[]::new))).isEqualTo(":" + result.size() + "\r\n");
        model.set(target, result);
    }

    private static List<String> elements(String reply) {
        String[] lines = reply.split("\r\n", -1);
        List<String> elements = new ArrayList<>();
        for (int i = 2; i < lines.length - 1; i += 2) {
            elements.add(lines[i]);
        }
        return elements;
    }

    private void compare(CommandHarness server, String how) {
        assertThat(server.cache().checkIntegrity()).as(how).isEmpty();
        for (int i = 0; i < SETS; i++) {
            List<String> members = elements(server.run("SMEMBERS", "s" + i));
            assertThat(members).as(how).doesNotHaveDuplicates();
            assertThat(new TreeSet<>(members)).as(how).isEqualTo(model.get(i));
        }
    }
}
