package io.varve.server.command.hash;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.server.command.HarnessTest;

/**
 * Base of tests of hashes with fields f0, f1 and so on, some of which get expiry times. Confined to the test's thread.
 */
abstract class FieldTimesHarness extends HarnessTest {
    static String fields(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "f" + i).collect(Collectors.joining(" "));
    }

    static String pairs(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "f" + i + " " + i).collect(Collectors.joining(" "));
    }

    /** A hash with so many fields; in a small one they are packed. */
    final void make(String key, int count) {
        for (int i = 0; i < count; i += 1000) {
            execute("HSET " + key + " " + pairs(i, Math.min(count, i + 1000)));
        }
    }

    final void expireSome(String key, int from, int to, long millis) {
        for (int i = from; i < to; i += 1000) {
            int end = Math.min(to, i + 1000);
            execute("HPEXPIRE " + key + " " + millis + " FIELDS " + (end - i) + " " + fields(i, end));
        }
    }

    /** The reply of DUMP. */
    final String payload(String key) {
        String reply = server.run("DUMP", key);
        return reply.substring(reply.indexOf('\n') + 1, reply.length() - 2);
    }
}
