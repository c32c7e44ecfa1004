package io.varve.experiments.run.flash;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

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
    static final String RESULT = "result ";
    private static final int WORDS = 3;
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
        /** @throws IOException if the line is another one */
        static Memory parse(String line) throws IOException {
            String[] words = line.startsWith(RESULT) ? line.substring(RESULT.length()).split(" ", -1) : new String[0];
            if (words.length != WORDS) {
                throw new IOException("unexpected output of a JVM with a policy: " + line);
            }
            return new Memory(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
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
