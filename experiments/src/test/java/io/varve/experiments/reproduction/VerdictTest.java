package io.varve.experiments.reproduction;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.RunRecord.Phase;
import io.varve.experiments.result.table.Summary;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests measures, claims and verdicts on records that are made up. Confined to the test's thread. */
class VerdictTest {
    private static final Path HOME = Path.of("..");

    @TempDir
    Path folder;
    private Plan plan;

    @BeforeEach
    void readPlan() throws IOException {
        Experiment experiment = new ExperimentFiles(HOME.resolve("workloads/experiments")).read("penalty");
        plan = Plan.of(experiment, "small", Filters.NONE);
    }

    private static Measure measure(String metric, @Nullable String workload, @Nullable String configuration,
            Measure.@Nullable Of of, @Nullable Measure over) {
        return new Measure(metric, workload, configuration, null, null, null, null, of, over);
    }

    private static Claim atMost(Measure value, double limit) {
        return new Claim("is small", value, "%", null, null, null, limit);
    }

    private static Artefact artefact(@Nullable String cannot, Claim... claims) {
        return new Artefact("predis/fig-14", "Figure 14", "Mean response times", "penalty", null, List.of("chart-*"),
                null, List.of(claims), "Because of this. And of that.", cannot);
    }

    private void write(String workload, String configuration, Outcome outcome, Map<String, Double> measured)
            throws IOException {
        RunFiles files = new RunFiles(folder.resolve("penalty"));
        RunSpec run = plan.runs().stream().filter(each -> each.workload().equals(workload)
                && each.configuration().equals(configuration)).findFirst().orElseThrow();
        Files.createDirectories(files.of(run));
        files.write(new RunRecord(run, configuration, outcome, List.of(), "2026-12-01T01:02:03Z", "penalty", "small",
                "about", 1, "varve", "command", Map.of(), Map.of(), Map.of("varve", "abc1234"),
                List.of(new Phase("operations", 500, 61_000)), new TreeMap<>(measured), List.of(), List.of()));
    }

    private ArtefactResult result(Artefact artefact) throws IOException {
        return Results.of(artefact, "small", plan, new ReproductionFiles(folder));
    }

    @Test
    void withoutRunsNothingIsClaimed() throws IOException {
        ArtefactResult result = result(artefact(null, atMost(measure("time", null, null, null, null), 1)));
        assertThat(result.verdict()).isEqualTo(Verdict.NOT_RUN);
        assertThat(result.state()).isEqualTo("not run");
        assertThat(result.planned()).isEqualTo(35);
        assertThat(result.chartsWithoutFile()).containsExactly("chart-*");
    }

    @Test
    void anArtefactAgreesIfAllMeasuredClaimsHold() throws IOException {
        write("a-small", "lru", Outcome.OK, Map.of("time", 100.0));
        write("a-small", "penalty", Outcome.OK, Map.of("time", 60.0));
        write("b-small", "penalty", Outcome.OK, Map.of("time", 90.0));
        write("c-small", "penalty", Outcome.FAILED, Map.of("time", 1.0));
        write("a-stress-small", "penalty", Outcome.OK, Map.of("time", 1000.0));
        Measure ratio = measure("time", "a", "penalty", null, measure("time", "a", "lru", null, null));
        Measure greatest = measure("time", null, "penalty", Measure.Of.MAX, null);
        Measure unknown = measure("absent", null, null, null, null);
        Summary summary = Summary.of(plan, records());
        Selection all = new Selection(List.of(), Map.of());
        assertThat(ratio.of(summary, all)).isEqualTo(0.6);
        assertThat(greatest.of(summary, all)).isEqualTo(1000);
        assertThat(measure("time", null, "penalty", Measure.Of.MIN, null).of(summary, all))
                .as("a failed run does not count").isEqualTo(60);
        assertThat(greatest.of(summary, new Selection(List.of(), Map.of("workload", List.of("a", "b")))))
                .isEqualTo(90);
        assertThat(unknown.of(summary, all)).isNaN();

        ArtefactResult agrees = result(artefact(null, atMost(ratio, 0.6), atMost(unknown, 1)));
        assertThat(agrees.verdict()).isEqualTo(Verdict.AGREES);
        assertThat(agrees.held()).isEqualTo("1 of 1");
        assertThat(agrees.state()).isEqualTo("4 of 35 runs 2026-12-01");
        assertThat(agrees.seconds()).isEqualTo(244);
        assertThat(result(artefact(null, atMost(ratio, 0.6), atMost(ratio, 0.59))).verdict())
                .isEqualTo(Verdict.DIFFERS);
        assertThat(result(artefact(null, atMost(unknown, 1))).verdict()).isEqualTo(Verdict.CANNOT_BE_SHOWN);
        assertThat(result(artefact("There is no counter.", atMost(ratio, 1))).verdict())
                .isEqualTo(Verdict.CANNOT_BE_SHOWN);
    }

    /** Its runs may come from a machine that has what this one lacks. */
    @Test
    void aConfigurationIsMeasuredByItsRunsAndByTheRunsThatCompareIt() throws IOException {
        write("a-small", "lru", Outcome.OK, Map.of("ops read hyperbolic", 100.0));
        write("a-small", "penalty", Outcome.FAILED, Map.of("time", 1.0));
        assertThat(Results.measured(plan, new ReproductionFiles(folder))).containsExactlyInAnyOrder("lru",
                "hyperbolic");
    }

    /** A ratio would compare workloads otherwise, where one side ran more of them than the other. */
    @Test
    void aRatioComparesTheSameCells() throws IOException {
        write("a-small", "lru", Outcome.OK, Map.of("time", 100.0));
        write("a-small", "penalty", Outcome.OK, Map.of("time", 50.0));
        write("b-small", "lru", Outcome.OK, Map.of("time", 1000.0));
        write("c-small", "penalty", Outcome.OK, Map.of("time", 7.0));
        write("d-small", "penalty", Outcome.OK, Map.of("time", 30.0));
        write("d-small", "lru", Outcome.OK, Map.of("time", 20.0));
        Summary summary = Summary.of(plan, records());
        Selection all = new Selection(List.of(), Map.of());
        Measure ratio = measure("time", null, "penalty", null, measure("time", null, "lru", null, null));
        assertThat(ratio.of(summary, all)).as("means over a and d").isEqualTo(80.0 / 120);
        assertThat(measure("time", "c", "penalty", null, measure("time", "b", "lru", null, null)).of(summary, all))
                .isNaN();
    }

    private List<RunRecord> records() throws IOException {
        RunFiles files = new RunFiles(folder.resolve("penalty"));
        List<RunRecord> records = new ArrayList<>();
        for (RunSpec run : plan.runs()) {
            files.read(run).ifPresent(records::add);
        }
        return records;
    }

    @Test
    void limitsFollowFromThePublishedNumber() {
        Measure any = measure("m", null, null, null, null);
        Claim near = new Claim("is near", any, "%", -50.0, 10.0, null, null);
        assertThat(near.limits()).isEqualTo("-55 % to -45 %");
        assertThat(near.holds(-46)).isTrue();
        assertThat(near.holds(-44)).isFalse();
        assertThat(near.holds(-56)).isFalse();
        Claim least = new Claim("is large", any, null, 4.0, null, 1.5, null);
        assertThat(least.limits()).isEqualTo("at least 1.5");
        assertThat(least.holds(100)).isTrue();
        assertThat(least.holds(1.49)).isFalse();
        assertThat(new Claim("none", any, null, 4.0, null, null, null).isBounded()).isFalse();
    }

    @Test
    void thePageHasEachArtefactItsChartAndItsVerdict() throws IOException {
        write("a-small", "lru", Outcome.OK, Map.of("time", 100.0));
        Path charts = Files.createDirectories(folder.resolve("penalty"));
        Files.writeString(charts.resolve("chart-a.svg"), "<svg/>");
        Files.writeString(charts.resolve("chart-a.png"), "png");
        Files.writeString(charts.resolve("chart-b.png"), "png");
        ReproductionFiles files = new ReproductionFiles(folder);
        Artefact artefact = artefact(null, atMost(measure("time", null, "lru", null, null), 99));
        Reproduction reproduction = new Reproduction(Map.of("predis", "pRedis <1>"), Map.of(), List.of(artefact));
        Path page = files.write(reproduction, List.of(result(artefact)));
        assertThat(page).content().contains("id=\"predis/fig-14\"", "differs", "Because of this.", "pRedis &lt;1&gt;",
                "charts/predis-fig-14-1.svg", "charts/predis-fig-14-2.png", "at most 99 %", "Made by Varve abc1234.",
                "./varve reproduce predis/fig-14 --scale small").doesNotContain("predis-fig-14-3", "<script");
        assertThat(result(artefact).chartsWithoutFile()).isEmpty();
        assertThat(folder.resolve("charts/predis-fig-14-1.svg")).hasContent("<svg/>");
        assertThat(folder.resolve("results.csv")).content().isEqualTo(ReproductionFiles.HEADER
                + "\npredis/fig-14,Figure 14,small,1,35,2026-12-01,differs,0 of 1,61\n");
        assertThat(files.earlier("predis/fig-14")).contains(
                new ReproductionFiles.Earlier("small", "2026-12-01", "differs"));
        assertThat(files.earlier("predis/fig-15")).isEmpty();
    }
}
