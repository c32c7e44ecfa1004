package io.varve.server.command.batch;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.command.CommandHarness;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the replies of batches with those of single commands, for which no other command's members are prefetched.
 * Confined to the test's thread.
 */
class MemberPrefetcherTest {
    private static final int BATCHES = 400;
    private static final int MEMBERS = 3000;
    private static final int MAX_ARGUMENTS = 100;

    /** Large and small collections, keys of the wrong type, and keys that are removed in the middle of a batch. */
    @Test
    void batchesReplyAsSingleCommandsDo() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        try (CommandHarness batches = new CommandHarness(); CommandHarness singles = new CommandHarness()) {
            int large = 0;
            for (int i = 0; i < BATCHES; i++) {
                List<String[]> commands = commands(random);
                StringBuilder expected = new StringBuilder();
                for (String[] command : commands) {
                    expected.append(singles.run(command));
                }
                assertThat(batches.runBatch(commands)).as("seed %d, batch %d", seed, i)
                        .isEqualTo(expected.toString());
                large += batches.run("OBJECT", "ENCODING", "set 0").contains("hashtable") ? 1 : 0;
            }
            assertThat(large).as("seed %d: batches that left a large set", seed).isPositive();
            assertThat(batches.cache().checkIntegrity()).isEmpty();
        }
    }

    /** A batch of a few series of one command each, with one key or with two that take turns. */
    private static List<String[]> commands(SplittableRandom random) {
        List<String[]> commands = new ArrayList<>();
        while (commands.size() < 60) {
            String name = List.of("SADD", "SADD", "SREM", "SISMEMBER", "SMISMEMBER", "HSET", "HSET", "HSETNX", "HGET",
                    "HMGET", "HDEL", "HEXISTS", "HSTRLEN", "HINCRBY").get(random.nextInt(14));
            String key = (random.nextInt(20) == 0 ? "any " : name.startsWith("S") ? "set " : "hash ")
                    + random.nextInt(2);
            int series = 1 + random.nextInt(20);
            for (int i = 0; i < series; i++) {
                commands.add(command(random, name, random.nextInt(10) == 0 ? key + "'" : key));
            }
            if (random.nextInt(200) == 0) {
                commands.add(new String[] {"DEL", key});
            }
        }
        return commands;
    }

    private static String[] command(SplittableRandom random, String name, String key) {
        List<String> words = new ArrayList<>(List.of(name, key));
        boolean hasOne = List.of("SISMEMBER", "HGET", "HEXISTS", "HSTRLEN", "HSETNX", "HINCRBY").contains(name);
        int members = hasOne || random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(MAX_ARGUMENTS);
        for (int i = 0; i < members; i++) {
            words.add("member " + random.nextInt(MEMBERS));
            if (name.startsWith("HSET") || name.equals("HINCRBY")) {
                words.add(Integer.toString(random.nextInt(1000)));
            }
        }
        if (random.nextInt(50) == 0) {
            // An argument is missing, or it is one too many.
            words.add("more");
        }
        return words.toArray(String[]::new);
    }
}
