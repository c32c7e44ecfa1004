package io.varve.experiments.run.flash;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.experiments.server.NoServer;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.simulate.YcsbKeys;
import io.varve.flash.policy.Policies;
import io.varve.flash.policy.ReplacementPolicy;

/**
 * The main class of a JVM that fills one policy with keys and prints its memory. Confined to the main thread.
 *
 * <p>The policies' memory is outside the Java heap, except the bits of CLOCK and SIEVE, so the heap in use hardly
 * differs.
 */
public final class FilledPolicy {
    /** The beginning of the line with the results. */
    private static final String RESULT = "result ";
    private static final Pattern RESULT_LINE = Pattern.compile(RESULT + "(\\d{1,18}) (\\d{1,18}) (\\d{1,18})");
    /** Collections before the heap is read: the first one may leave objects that it has just found unreachable. */
    private static final int COLLECTIONS = 2;
    private static final List<String> HEAP = List.of("-Xms32m", "-Xmx256m", "-XX:+UseSerialGC");

    /**
     * The memory of a filled policy. Immutable.
     *
     * @param policyBytes memory of the policy itself
     * @param heapBytes Java heap in use after a collection
     * @param residentBytes resident memory of the process
     */
    record Memory(long policyBytes, long heapBytes, long residentBytes) {
        /**
         * Reads the output of such a JVM until the line with the results. The JVM's own messages may precede it.
         *
         * @throws IOException if there is no such line
         */
        static Memory read(BufferedReader in) throws IOException {
            StringBuilder output = new StringBuilder();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                Matcher result = RESULT_LINE.matcher(line);
                if (result.matches()) {
                    return new Memory(Long.parseLong(result.group(1)), Long.parseLong(result.group(2)),
                            Long.parseLong(result.group(3)));
                }
                output.append('\n').append(line);
            }
            throw new IOException("a JVM with a policy printed no result, but:"
                    + (output.isEmpty() ? " (nothing)" : output));
        }
    }

    private FilledPolicy() {}

    /** @param words the policy, and the number of its keys */
    public static void main(String[] words) throws IOException {
        Policies policy = Policies.of(words[0]);
        int items = Integer.parseInt(words[1]);
        try (Arena arena = Arena.ofShared()) {
            ReplacementPolicy filled = policy.create(arena, items, new SplittableRandom(1));
            if (filled.caches()) {
                for (int number = 0; number < items; number++) {
                    long key = YcsbKeys.keyOf(number);
                    filled.inserted(key);
                    filled.hit(key);
                }
            }
            for (int i = 0; i < COLLECTIONS; i++) {
                System.gc();
            }
            System.out.println(String.format(Locale.ROOT, "%s%d %d %d", RESULT, filled.ramBytes(),
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                    ProcessUsage.residentBytes(new NoServer())));
        }
    }

    /** The command of such a JVM. */
    static List<String> command(Policies policy, long items) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(HEAP);
        command.addAll(List.of("-Xlog:disable", "-Xlog:all=error:stderr", "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                FilledPolicy.class.getName(), policy.optionName(), String.valueOf(items)));
        return command;
    }
}
