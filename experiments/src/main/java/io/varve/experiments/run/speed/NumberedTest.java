package io.varve.experiments.run.speed;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.run.load.SequentialLoad;
import org.jspecify.annotations.Nullable;

/**
 * Tests that redis-benchmark cannot do: scripts, which must be loaded, and consumer groups, where each entry is
 * delivered and acknowledged once. A request has its number in the place of {@link SequentialLoad#PLACE}, and that of
 * its connection in the place of {@link #CONNECTION}. Each connection is a consumer. Immutable.
 *
 * @param setUp commands before each measurement
 * @param stored sent once for each number before the measurement; null for nothing
 * @param drained sent before the measurement until it has delivered all that was stored; null for nothing
 * @param command the measured one
 */
record NumberedTest(List<List<String>> setUp, @Nullable List<String> stored, @Nullable List<String> drained,
        List<String> command) {
    /** Place of a connection's number. */
    static final String CONNECTION = "__conn__";
    /** Entries of one reply while a stream is drained. */
    static final int DRAINED = 500;
    /** Consumers that drain a stream. */
    static final int CONSUMERS = 10;
    private static final String PLACE = SequentialLoad.PLACE;
    private static final String STREAM = "stream";
    private static final String GROUP = "group";
    private static final String UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1])"
            + " else return 0 end";
    private static final String BUCKET = """
            local bucket = redis.call('hmget', KEYS[1], 'tokens', 'time')
            local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
            local time = redis.call('time')
            local now = time[1] + time[2] / 1000000
            local last = tonumber(bucket[2]) or now
            local tokens = math.min(burst, (tonumber(bucket[1]) or burst) + (now - last) * rate)
            local allowed = tokens >= 1
            if allowed then tokens = tokens - 1 end
            redis.call('hset', KEYS[1], 'tokens', tokens, 'time', now)
            redis.call('pexpire', KEYS[1], 60000)
            return allowed and 1 or 0
            """;
    private static final String LOOP = "local sum = 0 for i = 1, 100 do sum = sum + i % 7 end return sum";

    private static final Map<String, NumberedTest> TESTS = tests();

    /** Their names. */
    static Set<String> names() {
        return TESTS.keySet();
    }

    /** A test by its name; null if there is no such test. */
    static @Nullable NumberedTest of(String name) {
        return TESTS.get(name);
    }

    private static Map<String, NumberedTest> tests() {
        Map<String, NumberedTest> tests = new LinkedHashMap<>();
        tests.put("EVALSHA-UNLOCK", script(UNLOCK, List.of("SET", "lock:" + PLACE, "token"), "lock:", "token"));
        tests.put("EVALSHA-BUCKET", script(BUCKET, null, "bucket:", "10", "20"));
        tests.put("EVALSHA-LOOP", script(LOOP, null, "unused:"));
        List<List<String>> newStream = List.of(List.of("DEL", STREAM),
                List.of("XGROUP", "CREATE", STREAM, GROUP, "$", "MKSTREAM"));
        tests.put("XADD", new NumberedTest(newStream, null, null, entry("*")));
        tests.put("XREADGROUP", new NumberedTest(newStream, entry("*"), null, read(1)));
        // The time of an entry is its number: one entry a millisecond, from September 2001 on.
        String id = "1" + PLACE + "-0";
        tests.put("XACK", new NumberedTest(newStream, entry(id), read(DRAINED), List.of("XACK", STREAM, GROUP, id)));
        return tests;
    }

    private static NumberedTest script(String text, @Nullable List<String> stored, String key, String... arguments) {
        List<String> command = new ArrayList<>(List.of("EVALSHA", sha1(text), "1", key + PLACE));
        command.addAll(List.of(arguments));
        return new NumberedTest(List.of(List.of("SCRIPT", "LOAD", text)), stored, null, List.copyOf(command));
    }

    private static List<String> entry(String id) {
        return List.of("XADD", STREAM, id, "id", PLACE, "type", "click", "user", "u48213", "page", "home", "ms", "312");
    }

    private static List<String> read(int count) {
        return List.of("XREADGROUP", "GROUP", GROUP, "consumer-" + CONNECTION, "COUNT", String.valueOf(count),
                "STREAMS",
                STREAM, ">");
    }

    private static String sha1(String text) {
        try {
            return HexFormat.of().formatHex(
                    MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.US_ASCII)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
