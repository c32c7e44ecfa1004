package io.varve.experiments.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the experiment that consists of parts of several kinds. Confined to the test's thread. */
final class PaperPlanTest {
    private static final Path DIRECTORY = Path.of("..", "workloads", "experiments");

    private final Experiment paper = new ExperimentFiles(DIRECTORY).read("redis-plus-plus");

    @TempDir
    private Path directory;

    PaperPlanTest() throws IOException {}

    @Test
    void itHasTheLoadsOfAllItsFigures() {
        Plan small = Plan.of(paper, "small", Filters.NONE);
        assertThat(small.runs().stream().filter(run -> small.kind(run) == Kind.PAPER_REQUESTS))
                .extracting(RunSpec::workload).containsExactly("Tiny", "Small", "Large");
        assertThat(small.runs().stream().filter(run -> small.kind(run) == Kind.FRAGMENTATION)).hasSize(8 * 6);
        assertThat(small.runs().stream().filter(run -> small.kind(run) == Kind.CLEANER)).hasSize(2 * 6);
        assertThat(small.runs()).extracting(RunSpec::id).doesNotHaveDuplicates();
        assertThat(small.rival()).contains("Redis");
        assertThat(small.runs()).as("the baseline takes turns with the requests, and has runs of its own elsewhere")
                .noneMatch(run -> small.kind(run) == Kind.PAPER_REQUESTS && run.configuration().equals("Redis"))
                .anyMatch(run -> small.kind(run) == Kind.FRAGMENTATION && run.configuration().equals("Redis"));
    }

    @Test
    void itsSetsAreTableFour() {
        Plan small = Plan.of(paper, "small", Filters.NONE);
        List<RequestSet> sets = small.runs().stream().filter(run -> small.kind(run) == Kind.PAPER_REQUESTS)
                .map(small::requests).toList();
        assertThat(sets).extracting(RequestSet::keyBytes).containsExactly(8, 16, 128);
        assertThat(sets).extracting(RequestSet::values).containsExactly(new ValueSizes(8, 16), new ValueSizes(16, 128),
                new ValueSizes(128, 1024));
        assertThat(sets).allSatisfy(set -> {
            assertThat(set.largeValues()).isEqualTo(new ValueSizes(1024, 10_240));
            assertThat(set.largeShare()).isEqualTo(0.05);
            assertThat(set.connections()).isEqualTo(50);
        });
        assertThat(small.size(small.runs().getFirst()).operations()).isEqualTo(500_000);
    }

    @Test
    void eachPartHasItsOwnLimit() {
        Plan large = Plan.of(paper, "large", Filters.NONE);
        for (RunSpec run : large.runs()) {
            assertThat(large.maxmemory(run)).as(run.id())
                    .isEqualTo(large.kind(run) == Kind.CLEANER ? "256mb" : "10gb");
        }
    }

    @Test
    void scalesStayWithinTheirTimeLimits() {
        Map<String, String> absent = Map.of("Redis-tcmalloc", "not here", "Redis-mimalloc", "not here",
                "Redis-defrag", "not here");
        Plan quick = Plan.of(paper, "quick", Filters.NONE).without(absent);
        assertThat(quick.estimateSeconds(quick.runs(), 1)).isLessThanOrEqualTo(4 * 60);
        assertThat(quick.runs()).allSatisfy(
                run -> assertThat(ByteSizes.parse(quick.maxmemory(run))).isLessThanOrEqualTo(200L << 20));
        Plan small = Plan.of(paper, "small", Filters.NONE).without(absent);
        assertThat(small.estimateSeconds(small.runs(), 1)).isLessThanOrEqualTo(24 * 60);
        for (String scaled : List.of("quick", "small", "medium")) {
            assertThat(Plan.of(paper, scaled, Filters.NONE).scale().about()).startsWith("SCALED");
        }
    }

    @Test
    void unavailableConfigurationIsOmittedAndReported() {
        Plan quick = Plan.of(paper, "quick", Filters.NONE);
        Plan without = quick.without(Map.of("Redis-libc", "not at hand"));
        assertThat(quick.runs()).anyMatch(run -> run.configuration().equals("Redis-libc"));
        assertThat(without.runs()).noneMatch(run -> run.configuration().equals("Redis-libc"))
                .hasSize(quick.runs().size() - 1);
        assertThat(without.missing()).containsOnlyKeys("Redis-libc");
    }

    @Test
    void aFilterLeavesPartsTheirConfigurations() {
        Filters filters = new Filters(List.of("Tiny", "W3"), List.of(), List.of("Varve", "Redis"), List.of(), List.of(),
                List.of());
        assertThat(Plan.of(paper, "quick", filters).runs()).extracting(RunSpec::id).containsExactly(
                "Tiny_requests-20k_ttl_1t_Varve", "W3_once_ttl_1t_Varve", "W3_once_ttl_1t_Redis");
    }

    @Test
    void theExperimentsThatItIncludesAreAsTheyWere() throws IOException {
        ExperimentFiles files = new ExperimentFiles(DIRECTORY);
        for (String name : List.of("fragmentation", "cleaner")) {
            Experiment included = files.read(name);
            assertThat(included.workloads().values()).noneMatch(workload -> workload.containsKey(Experiment.KIND));
            assertThat(paper.workloads()).containsKeys(included.workloads().keySet().toArray(String[]::new));
            assertThat(paper.seed()).isEqualTo(included.seed());
        }
        assertThat(paper.notes()).anyMatch(note -> note.startsWith("cleaner: ReclaimCost"));
    }

    @Test
    void duplicateNameIsReported() throws IOException {
        Files.copy(DIRECTORY.resolve("fragmentation.yaml"), directory.resolve("fragmentation.yaml"));
        String twice = Files.readString(DIRECTORY.resolve("fragmentation.yaml"))
                .replace("name: fragmentation", "name: twice") + "includes: [fragmentation]\n";
        Files.writeString(directory.resolve("twice.yaml"), twice);
        assertThatThrownBy(() -> new ExperimentFiles(directory).read("twice"))
                .isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("W1").hasMessageContaining("fragmentation");
    }
}
