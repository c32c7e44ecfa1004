package io.varve.experiments;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Runs an experiment as a process: its exit status, and that Ctrl-C loses no result. Confined to the test's thread. */
final class StatusIT {
    private static final String DEFINITION = """
            name: fill
            title: A little fill
            question: How does the process end?
            kind: memory_fit
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 16
            seed: 1
            workloads:
              fill: {value-bytes-min: "8", value-bytes-max: "16", limit-rss-over-maxmemory-mb: "LIMIT"}
            sizes:
              short: {records: 1000, seconds: 0}
              long: {records: 1000, seconds: 6}
            configurations:
              wheel: {server: varve, group: wheel, settings: {}}
            baselines: []
            scales:
              quick: {about: "SCALED: nearly nothing", embedded: true, workloads: [fill], sizes: [short, long], ttls: [[]], threads: [1], configurations: [wheel]}
            """;

    @TempDir
    private Path home;
    private final List<Process> started = new ArrayList<>();
    private Path output = Path.of("");

    @BeforeEach
    void makeAHome() throws IOException {
        Files.createDirectories(home.resolve("workloads/experiments"));
        output = home.resolve("output");
    }

    @AfterEach
    void stop() {
        started.forEach(Process::destroyForcibly);
    }

    private Plan define(String limitMegabytes) throws IOException {
        Path definitions = home.resolve("workloads/experiments");
        Files.writeString(definitions.resolve("fill.yaml"), DEFINITION.replace("LIMIT", limitMegabytes));
        return Plan.of(new ExperimentFiles(definitions).read("fill"), "quick", Filters.NONE);
    }

    private Process start(String... arguments) throws IOException {
        return startCommand("run", arguments);
    }

    private Process startCommand(String name, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        if (System.getProperty("os.name").equals("Linux")) {
            // Tests that run in the background pass on a SIGINT that is ignored.
            command.addAll(List.of("env", "--default-signal=INT"));
        }
        command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms32m",
                "-Xmx512m",
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--add-modules", "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.awt.headless=true", "-Dvarve.home=" + home, "-cp", System.getProperty("java.class.path"),
                Experiments.class.getName(), name));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        started.add(process);
        return process;
    }

    private String end(Process process, int status) throws IOException, InterruptedException {
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        String text = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(text).isEqualTo(status);
        return text;
    }

    @Test
    void ctrlC_keepsResultsAndResumeCompletesThem() throws IOException, InterruptedException {
        Plan plan = define("1000000");
        RunSpec first = plan.runs().getFirst();
        RunSpec second = plan.runs().getLast();
        Path directory = home.resolve("results");
        RunFiles files = new RunFiles(directory);

        Process process = start("fill", "--out", directory.toString());
        await().atMost(60, TimeUnit.SECONDS).until(() -> hasSamples(files, second));
        assertThat(new ProcessBuilder("kill", "-INT", String.valueOf(process.pid())).start().waitFor()).isZero();
        String text = end(process, Matrix.STATUS_INTERRUPTED);

        assertThat(text).contains("Report: " + directory.resolve("report.html"))
                .contains("Interrupted; to continue: ./varve run --resume " + directory);
        RunRecord whole = files.read(first).orElseThrow();
        assertThat(whole.outcome()).isEqualTo(Outcome.OK);
        RunRecord half = files.read(second).orElseThrow();
        assertThat(half.outcome()).isEqualTo(Outcome.INTERRUPTED);
        assertThat(half.faults()).isEmpty();
        assertThat(files.samples(second)).isNotEmpty();
        for (String name : List.of("summary.csv", "summary.json", "report.html")) {
            assertThat(directory.resolve(name)).isNotEmptyFile();
        }

        text = end(start("--resume=" + directory), 0);

        assertThat(text).contains("1 runs of 2 remain").doesNotContain("Interrupted");
        assertThat(files.read(first)).contains(whole);
        assertThat(files.read(second).orElseThrow().outcome()).isEqualTo(Outcome.OK);
        assertThat(Files.readAllLines(directory.resolve("summary.csv"))).hasSize(3)
                .noneMatch(line -> line.contains(Outcome.INTERRUPTED.name()));
    }

    @Test
    void ctrlC_keepsThePageOfAReproductionAndTheSameCommandContinues() throws IOException, InterruptedException {
        Plan plan = define("1000000");
        Files.writeString(home.resolve("workloads/reproduction.yaml"),
                """
                        papers: {p: A paper}
                        scales: {fill: {quick: quick, small: quick, paper: quick}}
                        artefacts:
                          - {id: p/fig-1, artefact: Figure 1, title: Fill, experiment: fill, claims: [{says: it is fast, value: {metric: m}, at-least: 1}]}
                        """);
        Path directory = home.resolve("results");
        RunFiles files = new RunFiles(directory.resolve("fill"));
        String[] command = {"--scale", "quick", "--out", directory.toString()};

        Process process = startCommand("reproduce", command);
        await().atMost(60, TimeUnit.SECONDS).until(() -> hasSamples(files, plan.runs().getLast()));
        assertThat(new ProcessBuilder("kill", "-INT", String.valueOf(process.pid())).start().waitFor()).isZero();
        String text = end(process, Matrix.STATUS_INTERRUPTED);

        assertThat(text).contains("Report: " + directory.resolve("index.html"),
                "Interrupted; the same command continues.", "1 of 2 runs").doesNotContain("--resume");
        assertThat(directory.resolve("index.html")).content().contains("p/fig-1");
        assertThat(end(startCommand("reproduce", command), 0)).contains("1 runs of 2 remain", "complete ")
                .doesNotContain("Interrupted");
    }

    private static boolean hasSamples(RunFiles files, RunSpec run) {
        try {
            return files.rows(run, RunFiles.MEMORY_CSV).size() > 1;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aCheckThatIsNotHeldIsStatus1() throws IOException, InterruptedException {
        Plan plan = define("0");
        Path directory = home.resolve("results");

        String text = end(start("fill", "--size", "short", "--out", directory.toString()), Matrix.STATUS_FAILED);

        String run = plan.runs().getFirst().id();
        assertThat(text).contains("Report: " + directory.resolve("report.html"))
                .containsPattern(
                        "varve: not held in " + run + ": peak resident bytes .* [0-9,]+ \\(at most 67,108,864\\)");
        assertThat(new RunFiles(directory).read(plan.runs().getFirst()).orElseThrow().outcome()).isEqualTo(Outcome.OK);

        assertThat(end(start("--resume=" + directory), Matrix.STATUS_FAILED)).contains("0 runs of 1 remain");
    }
}
