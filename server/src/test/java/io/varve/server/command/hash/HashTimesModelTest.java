package io.varve.server.command.hash;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.ScriptShrinker;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random commands on hashes whose fields have expiry times, while time passes; the model must allow each reply.
 * Confined to the test's thread. Hashes are packed, trees, and in transition.
 *
 * <p>{@code -Dvarve.model.operations=N} sets the number of commands per kind of hash, {@code -Dvarve.model.seed=N}
 * repeats a run. A script that shows a difference is shrunk and printed.
 */
class HashTimesModelTest {
    private static final int STEPS = TestBudget.ofInt("varve.model.operations", 4_000, 100_000);
    /** Commands between two empty stores: few enough that a failing script shrinks quickly. */
    private static final int SCRIPT_STEPS = 800;
    private static final long LATER_MILLIS = 100_000_000;
    private static final int LATER_CYCLES = 5_000;

    private ServerConfig config = ServerConfig.defaults();
    private String what = "";

    @ParameterizedTest
    @CsvSource({"0, 0, 10, wheel", "1, 8192, 10, bucket", "9, 8192, 20, wheel", "128, 300, 60, wheel",
            "128, 8192, 200, random", "1000000, 67108864, 60, bucket", "9, 8192, 900, wheel", "9, 8192, 400, random"})
    void randomCommandsAreAnsweredAsTheModelAnswersThem(int entries, int bytes, int names, String algorithm)
            throws IOException {
        long seed = TestBudget.seed("varve.model.seed");
        String how = "packed-max-entries " + entries + ", " + names + " fields, " + algorithm;
        System.out.println("HashTimesModelTest " + how + ", seed " + seed);
        config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2")
                .with("expire-algorithm", algorithm).with("expire-bucket-base-ms", "50").with("expire-buckets", "7")
                .with("packed-max-entries", Integer.toString(entries))
                .with("packed-max-bytes", Integer.toString(bytes));
        SplittableRandom seeds = new SplittableRandom(seed);
        for (int sent = 0; sent < STEPS; sent += SCRIPT_STEPS) {
            List<List<String>> script = new ArrayList<>(
                    new RandomHashCommands(seed, names, start()).script(SCRIPT_STEPS));
            if (sent + SCRIPT_STEPS >= STEPS) {
                script.add(List.of(RandomHashCommands.END));
            }
            int failing = failingStep(script);
            if (failing != ScriptShrinker.NONE) {
                fail(script, failing, how + ", seed " + seed);
            }
            seed = seeds.nextLong();
        }
    }

    private long start() {
        try (CommandHarness server = new CommandHarness(config)) {
            return server.now();
        }
    }

    private void fail(List<List<String>> script, int failing, String how) throws IOException {
        String first = "step " + failing + " " + script.get(failing) + "\n" + what;
        List<List<String>> shrunk = ScriptShrinker.shrink(script, failing, this::failingStep);
        int again = failingStep(shrunk);
        Assertions.fail(how + ", " + first + "\nshrunk to:\n"
                + shrunk.stream().map(words -> String.join(" ", words)).collect(Collectors.joining("\n")) + "\n"
                + (again == ScriptShrinker.NONE ? "(which does not always fail)" : what));
    }

    /** The first step whose reply the model does not allow; {@link #what} explains it. */
    private int failingStep(List<List<String>> script) {
        FieldTimesModel model = new FieldTimesModel();
        try (CommandHarness server = new CommandHarness(config)) {
            for (int i = 0; i < script.size(); i++) {
                String objection;
                try {
                    objection = step(server, model, script.get(i));
                } catch (AssertionError | RuntimeException broken) {
                    objection = broken.toString();
                }
                if (objection != null) {
                    what = objection;
                    return i;
                }
            }
        }
        return ScriptShrinker.NONE;
    }

    /** The objection to a reply, or null. */
    private static @Nullable String step(CommandHarness server, FieldTimesModel model, List<String> words) {
        return switch (words.getFirst()) {
            case RandomHashCommands.SLEEP -> {
                server.sleep(Long.parseLong(words.get(1)));
                yield null;
            }
            case RandomHashCommands.MAINTAIN -> {
                server.cache().maintain();
                yield null;
            }
            case RandomHashCommands.CHECK -> {
                List<String> problems = server.cache().checkIntegrity();
                yield problems.isEmpty() ? null : problems.toString();
            }
            case RandomHashCommands.END -> end(server, model);
            case RandomHashCommands.SCAN -> model.isInTransaction() ? null : scan(server, model, words.get(1));
            case RandomHashCommands.RESTORE -> model.isInTransaction()
                    ? null
                    : dumpAndRestore(server, model, words.get(1), words.get(2));
            default -> compare(server, model.answer(words, server.now()), words);
        };
    }

    private static @Nullable String compare(CommandHarness server, ExpectedReply expected, List<String> words) {
        Object actual = ExpectedReply.parse(server.run(words.toArray(String[]::new)));
        return expected.allows(actual) ? null : "Varve: " + actual + "\nmodel: " + expected;
    }

    private static @Nullable String end(CommandHarness server, FieldTimesModel model) {
        server.sleep(LATER_MILLIS);
        for (int i = 0; i < LATER_CYCLES; i++) {
            server.sleep(100);
            server.cache().maintain();
        }
        model.pass(server.now());
        List<String> problems = server.cache().checkIntegrity();
        return problems.isEmpty()
                ? compare(server, ExpectedReply.integer(model.keys()), List.of("DBSIZE"))
                : problems.toString();
    }

    private static @Nullable String scan(CommandHarness server, FieldTimesModel model, String key) {
        model.pass(server.now());
        if (!model.isHash(key)) {
            return compare(server, ExpectedReply.error(FieldTimesModel.WRONG_TYPE), List.of("HSCAN", key, "0"));
        }
        Map<Object, Object> all = new TreeMap<>();
        String cursor = "0";
        do {
            List<?> reply = (List<?>) ExpectedReply.parse(server.run("HSCAN", key, cursor, "COUNT", "20"));
            List<?> part = (List<?>) reply.getLast();
            for (int i = 0; i < part.size(); i += 2) {
                if (all.put(part.get(i), part.get(i + 1)) != null) {
                    return "HSCAN answers twice " + part.get(i);
                }
            }
            cursor = reply.getFirst().toString().substring(1);
        } while (!cursor.equals("0"));
        return all.equals(model.contents(key)) ? null : "HSCAN: " + all + "\nmodel: " + model.contents(key);
    }

    private static @Nullable String dumpAndRestore(CommandHarness server, FieldTimesModel model, String from,
            String to) {
        model.pass(server.now());
        String payload = ExpectedReply.parse(server.run("DUMP", from)).toString();
        long ttl = model.ttlToRestoreWith(from);
        if (ttl == FieldTimesModel.NEVER) {
            return payload.equals(ExpectedReply.NIL) ? null : "DUMP of a key that is not there: " + payload;
        }
        int version = payload.charAt(payload.length() - 10);
        int expected = model.hasTimes(from) ? 12 : 10;
        if (version != expected) {
            return "DUMP in RDB version " + version + ", not " + expected;
        }
        model.restored(from, to, ttl);
        return compare(server, ExpectedReply.of("+OK"),
                List.of("RESTORE", to, Long.toString(ttl), payload.substring(1), "REPLACE"));
    }
}
