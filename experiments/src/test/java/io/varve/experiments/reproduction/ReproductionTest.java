package io.varve.experiments.reproduction;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the definition of all tables and figures against the experiments. Confined to the test's thread. */
class ReproductionTest {
    private static final Path HOME = Path.of("..");
    private static final Pattern POLICY_AND_CACHE = Pattern.compile("^\\S+ (\\S+) (?:([0-9.]+)%|filled)$");

    @TempDir
    Path folder;

    @Test
    void allTablesAndFiguresAreDefined() throws IOException {
        Reproduction reproduction = Reproduction.read(HOME);
        Map<String, Long> byPaper = reproduction.artefacts().stream()
                .collect(Collectors.groupingBy(Artefact::paper, Collectors.counting()));
        assertThat(byPaper).isEqualTo(Map.of("bucket-expiry", 15L, "tbf", 9L, "redis-plus-plus", 6L, "predis", 10L,
                "durable-kv", 5L));
    }

    @Test
    void eachIsShownByAFigureOfItsExperimentAndHasRunsAtEachScale() throws IOException {
        Reproduction reproduction = Reproduction.read(HOME);
        ExperimentFiles files = new ExperimentFiles(HOME.resolve("workloads/experiments"));
        for (Artefact artefact : reproduction.artefacts()) {
            Experiment experiment = files.read(artefact.experiment());
            assertThat(experiment.figures()).as(artefact.id()).isNotNull();
            List<String> figures = experiment.figures().stream().map(Figure::id).toList();
            assertThat(figures).as(artefact.id()).containsAnyElementsOf(artefact.shownBy());
            for (String scale : Reproduction.SCALES) {
                Plan plan = Plan.of(experiment, reproduction.scale(artefact.experiment(), scale), Filters.NONE);
                assertThat(plan.runs()).as("%s at %s", artefact.id(), scale)
                        .anyMatch(run -> ArtefactResult.needs(artefact, plan, run));
            }
        }
    }

    /** A claim whose number no run can have would never be judged. */
    @Test
    void eachClaimHasItsNumbersAtEachScale() throws IOException {
        Reproduction reproduction = Reproduction.read(HOME);
        ExperimentFiles files = new ExperimentFiles(HOME.resolve("workloads/experiments"));
        List<String> faults = new ArrayList<>();
        for (Artefact artefact : reproduction.artefacts()) {
            Experiment experiment = files.read(artefact.experiment());
            Selection selection = Selection.of(artefact, experiment);
            for (String scale : Reproduction.SCALES) {
                Plan plan = Plan.of(experiment, reproduction.scale(artefact.experiment(), scale), Filters.NONE);
                for (Claim claim : artefact.claims()) {
                    if (cells(claim.value(), plan, selection).isEmpty()) {
                        faults.add(artefact.id() + " at " + scale + ": " + claim.says());
                    }
                }
            }
        }
        assertThat(faults).isEmpty();
    }

    /** The cells of the planned runs that have the number. */
    private static Set<String> cells(Measure measure, Plan plan, Selection selection) {
        Set<String> cells = plan.runs().stream()
                .filter(run -> measure.isOf(run, group(plan, run.configuration()), selection)
                        && hasPolicy(measure.metric(), plan, run)
                        && (measure.against() == null || plan.runs().contains(withConfiguration(run,
                                measure.against()))))
                .map(RunSpec::cell).collect(Collectors.toSet());
        if (measure.over() != null) {
            cells.retainAll(cells(measure.over(), plan, selection));
        }
        return cells;
    }

    private static String group(Plan plan, String configuration) {
        return Objects.requireNonNull(plan.configurations().get(configuration), configuration).group();
    }

    private static RunSpec withConfiguration(RunSpec run, String configuration) {
        return new RunSpec(run.workload(), run.size(), run.ttls(), run.threads(), configuration);
    }

    /** Metrics of policies end in the policy and its cache, such as {@code tbf 10%}. */
    private static boolean hasPolicy(String metric, Plan plan, RunSpec run) {
        Matcher policy = POLICY_AND_CACHE.matcher(metric);
        if (!policy.find()) {
            return true;
        }
        Map<String, String> workload = plan.experiment().workloads().getOrDefault(run.workload(), Map.of());
        return words(workload.get("policies")).contains(policy.group(1)) && (policy.group(2) == null
                ? !workload.containsKey("cache-percents")
                : words(workload.get("cache-percents")).contains(policy.group(2)));
    }

    private static List<String> words(@Nullable String text) {
        return text == null ? List.of() : List.of(text.split(" "));
    }

    @Test
    void namesSelectOneOrAPaper() throws IOException {
        Reproduction reproduction = Reproduction.read(HOME);
        assertThat(reproduction.named(List.of())).hasSize(45);
        assertThat(reproduction.named(List.of("durable-kv", "predis/fig-11"))).extracting(Artefact::id)
                .containsExactly("predis/fig-11", "durable-kv/fig-3", "durable-kv/fig-4", "durable-kv/table-1",
                        "durable-kv/table-2", "durable-kv/fig-5");
        assertThatThrownBy(() -> reproduction.named(List.of("predis/fig-99")))
                .isInstanceOf(InvalidExperimentException.class).hasMessageContaining("predis/fig-99")
                .hasMessageContaining("--list");
        assertThatThrownBy(() -> reproduction.scale("locks", "huge"))
                .isInstanceOf(InvalidExperimentException.class).hasMessageContaining("quick, small, paper");
    }

    @Test
    void aFaultyDefinitionNamesItsFaults() throws IOException {
        Files.createDirectories(folder.resolve("workloads"));
        Files.writeString(folder.resolve("workloads/reproduction.yaml"),
                """
                        papers: {p: A paper}
                        scales: {locks: {quick: quick, small: small}}
                        artefacts:
                          - {id: p/figure-1, artefact: Figure 1, title: t, experiment: locks, claims: []}
                          - {id: p/fig-2, artefact: Figure 2, title: t, experiment: other, claims: [{says: s, value: {metric: m}}]}
                        """);
        assertThatThrownBy(() -> Reproduction.read(folder)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("'p/figure-1': expected PAPER/fig-N")
                .hasMessageContaining("'p/figure-1': expected a claim")
                .hasMessageContaining("'p/fig-2': no scales for experiment other")
                .hasMessageContaining("'s' has no limit")
                .hasMessageContaining("scales of locks: expected quick, small, paper");
        Files.writeString(folder.resolve("workloads/reproduction.yaml"), "papers: {p: A paper}\nnonsense: 1\n");
        assertThatThrownBy(() -> Reproduction.read(folder)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("nonsense").hasMessageContaining("(line ");
    }
}
