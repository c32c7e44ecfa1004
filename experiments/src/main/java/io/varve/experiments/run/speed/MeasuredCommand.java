package io.varve.experiments.run.speed;

import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.run.load.SequentialLoad;
import org.jspecify.annotations.Nullable;

/**
 * A command under test. Immutable.
 *
 * @param name its name in the experiment's file
 * @param command the arguments for redis-benchmark
 * @param reads whether it must find its key
 * @param numbered the test that sends it instead of redis-benchmark; null for none
 */
public record MeasuredCommand(String name, List<String> command, boolean reads, @Nullable NumberedTest numbered) {
    private static final String KEY = "key:" + SequentialLoad.PLACE;
    private static final int FIELDS = 10;
    /** Wire size of {@code EX 60}: two bulks of two bytes, and six bytes around each. */
    private static final int EX_BYTES = 16;

    /** @param valueBytes length of the string, or of the whole record */
    public static MeasuredCommand of(String name, int valueBytes) {
        String value = "x".repeat(valueBytes);
        return switch (name) {
            case "SET" -> new MeasuredCommand(name, List.of("SET", KEY, value), false);
            case "GET" -> new MeasuredCommand(name, List.of("GET", KEY), true);
            case "SET-EX" -> new MeasuredCommand(name, List.of("SET", KEY, value, "EX", "60"), false);
            case "SET-AS-LONG" -> new MeasuredCommand(name, List.of("SET", KEY, value + "x".repeat(EX_BYTES)), false);
            case "HSET" -> new MeasuredCommand(name, hset(valueBytes / FIELDS), false);
            case "HGETALL" -> new MeasuredCommand(name, List.of("HGETALL", KEY), true);
            default -> ofDefaultTests(name, valueBytes);
        };
    }

    private MeasuredCommand(String name, List<String> command, boolean reads) {
        this(name, command, reads, null);
    }

    private static MeasuredCommand ofDefaultTests(String name, int valueBytes) {
        NumberedTest numbered = NumberedTest.of(name);
        if (numbered != null) {
            return new MeasuredCommand(name, numbered.command(), false, numbered);
        }
        List<String> command = DefaultTests.command(name, valueBytes);
        if (command == null) {
            throw new IllegalArgumentException(
                    "test '" + name + "': expected SET, GET, SET-EX, SET-AS-LONG, HSET, HGETALL, "
                            + String.join(", ", DefaultTests.names()) + ", "
                            + String.join(", ", NumberedTest.names()));
        }
        return new MeasuredCommand(name, command, false);
    }

    private static List<String> hset(int fieldBytes) {
        List<String> words = new ArrayList<>(List.of("HSET", KEY));
        for (int field = 0; field < FIELDS; field++) {
            words.add("field" + field);
            words.add("x".repeat(fieldBytes));
        }
        return words;
    }
}
