package io.varve.server.fuzz;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.varve.server.acl.AclRulesFuzzTest;
import io.varve.server.command.dump.StreamPayloadFuzzTest;
import io.varve.server.command.persistence.SnapshotLoaderFuzzTest;
import io.varve.server.command.script.ScriptFuzzTest;
import io.varve.server.config.ConfigFuzzTest;
import io.varve.server.persistence.LogReaderFuzzTest;
import io.varve.server.persistence.ManifestFuzzTest;
import io.varve.server.rdb.PayloadFuzzTest;
import io.varve.server.rdb.RdbFuzzTest;
import io.varve.server.resp.RequestDecoderFuzzTest;

/**
 * Runs Jazzer on the targets, one after the other, each in its own process. Confined to the main thread. Its agent
 * measures each input's coverage, and mutates inputs that reach new code further.
 *
 * <p>The corpus is kept in {@code target/fuzz} from run to run. A failing input is moved to the test's resources
 * ({@link FuzzCase}), so that every later {@code mvn verify} tries it.
 */
public final class JazzerRun {
    private static final String DRIVER = "com.code_intelligence.jazzer.Jazzer";
    private static final String ALL = "all";
    private static final int MAX_BYTES = 4096;
    /** Nothing that is tried takes a thousandth part of it. */
    private static final int TIMEOUT_SECONDS = 20;

    /** To begin, to try what is in the corpus, and to end. */
    private static final long MAX_EXTRA_SECONDS = 300;

    private final int seconds;
    private final Path module;

    private JazzerRun(int seconds, Path module) {
        this.seconds = seconds;
        this.module = module;
    }

    static List<FuzzCase> cases() {
        return List.of(RequestDecoderFuzzTest.fuzzCase(), PayloadFuzzTest.fuzzCase(), RdbFuzzTest.fuzzCase(),
                SnapshotLoaderFuzzTest.fuzzCase(), ManifestFuzzTest.fuzzCase(), LogReaderFuzzTest.fuzzCase(),
                AclRulesFuzzTest.fuzzCase(), ConfigFuzzTest.fuzzCase(), ScriptFuzzTest.fuzzCase(),
                StreamPayloadFuzzTest.fuzzCase());
    }

    /** @param arguments seconds for each target; the target's test, or {@code all}; the module's folder */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        JazzerRun run = new JazzerRun(Integer.parseInt(arguments[0]), Path.of(arguments[2]));
        List<String> failed = new ArrayList<>();
        int count = 0;
        for (FuzzCase each : cases()) {
            if (arguments[1].equals(ALL) || arguments[1].equals(each.name())) {
                count++;
                if (!run.isGood(each)) {
                    failed.add(each.name());
                }
            }
        }
        if (count == 0) {
            System.err.println("There is no fuzz test '" + arguments[1] + "'");
        } else if (failed.isEmpty()) {
            System.out.println("Nothing was found");
        } else {
            System.err.println("Failed, see above: " + String.join(", ", failed));
        }
        System.exit(count == 0 || !failed.isEmpty() ? 1 : 0);
    }

    private boolean isGood(FuzzCase each) throws IOException, InterruptedException {
        Path folder = module.resolve("target").resolve("fuzz").resolve(each.name());
        Path corpus = Files.createDirectories(folder.resolve("corpus"));
        Path findings = Files.createDirectories(folder.resolve("findings"));
        Path seeds = writeSeeds(each, folder);
        Path dictionary = Files.writeString(folder.resolve("words.dict"), dictionary(each.words()));

        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-XX:+EnableDynamicAgentLoading", "-cp", System.getProperty("java.class.path"), DRIVER,
                "--target_class=" + each.test().getName(), "--instrumentation_includes=io.varve.**",
                "--custom_hook_includes=io.varve.**",
                "--reproducer_path=" + findings, "-artifact_prefix=" + findings + "/", "-dict=" + dictionary,
                "-max_len=" + MAX_BYTES, "-timeout=" + TIMEOUT_SECONDS, "-max_total_time=" + seconds,
                "-print_final_stats=1", corpus.toString(), seeds.toString()));
        Process process = new ProcessBuilder(command).inheritIO().start();
        // Also if this one is ended from outside.
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        boolean ended = process.waitFor(seconds + MAX_EXTRA_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            System.err.println(each.name() + " does not end by itself");
            process.destroyForcibly().waitFor();
        }
        keep(each, findings);
        return ended && process.exitValue() == 0;
    }

    private static Path writeSeeds(FuzzCase each, Path folder) throws IOException {
        Path seeds = Files.createDirectories(folder.resolve("seeds"));
        int number = 0;
        for (List<byte[]> some : List.of(each.seeds(), each.kept())) {
            for (byte[] seed : some) {
                Files.write(seeds.resolve("seed-" + number++), seed);
            }
        }
        return seeds;
    }

    /** As libFuzzer reads it: a word in each line, in quotes. */
    static String dictionary(List<byte[]> words) {
        StringBuilder lines = new StringBuilder();
        for (byte[] word : words) {
            lines.append('"');
            for (byte each : word) {
                lines.append(String.format("\\x%02X", each));
            }
            lines.append("\"\n");
        }
        return lines.toString();
    }

    private void keep(FuzzCase each, Path findings) throws IOException {
        Path kept = module.resolve("src/test/resources")
                .resolve(each.test().getName().replace('.', '/'));
        try (Stream<Path> files = Files.list(findings)) {
            for (Path file : files.filter(JazzerRun::isFailure).toList()) {
                Files.createDirectories(kept);
                Path to = Files.move(file, kept.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
                System.err.println("Kept in " + to);
            }
        }
    }

    private static boolean isFailure(Path file) {
        String name = file.getFileName().toString();
        return name.startsWith("crash-") || name.startsWith("timeout-") || name.startsWith("oom-");
    }
}
