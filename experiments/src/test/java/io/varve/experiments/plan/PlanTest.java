package io.varve.experiments.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the expansion of a scale and its filters to a matrix. Confined to the test's thread. */
final class PlanTest {
    private static final Experiment BUCKET_EXPIRY = read("bucket-expiry");

    private static Experiment read(String name) {
        try {
            return new ExperimentFiles(Path.of("..", "workloads", "experiments")).read(name);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static Filters against(String... targets) {
        return new Filters(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(targets));
    }

    /** An experiment that has never been run has a plan too. */
    @Test
    void everyExperimentHasAPlanAtEveryScale() throws IOException {
        List<String> names = new ExperimentFiles(Path.of("..", "workloads", "experiments")).names();
        assertThat(names).contains("bucket-expiry", "sorted-set", "default-tests", "expired-events");
        for (String name : names) {
            Experiment experiment = read(name);
            for (String scale : experiment.scales().keySet()) {
                assertThat(Plan.of(experiment, scale, Filters.NONE).runs()).as("%s, %s", name, scale).isNotEmpty();
            }
        }
    }

    /** Files of earlier versions call the question "asks". */
    @Test
    void question_underItsEarlierName_isRead(@TempDir Path folder) throws IOException {
        String shipped = Files.readString(Path.of("..", "workloads", "experiments", "latency.yaml"));
        assertThat(shipped).contains("\nquestion: ");
        Files.writeString(folder.resolve("latency.yaml"), shipped.replace("\nquestion: ", "\nasks: "));
        assertThat(new ExperimentFiles(folder).read("latency")).isEqualTo(read("latency"));
    }

    @Test
    void largeIsThePapersWholeMatrixWithWheelAndRedis() {
        Plan plan = Plan.of(BUCKET_EXPIRY, "large", Filters.NONE);
        assertThat(plan.runs()).hasSize(3 * 3 * 3 * 2 * 9).doesNotHaveDuplicates();
        assertThat(plan.runs().stream().map(RunSpec::id).distinct().count()).isEqualTo(plan.runs().size());
    }

    @Test
    void smallEndsWithinAnHourAndEveryRunCrossesTwoMaximumTtls() {
        Plan plan = Plan.of(BUCKET_EXPIRY, "small", Filters.NONE);
        assertThat(plan.runs()).hasSize(15);
        assertThat(plan.estimateSeconds(plan.runs(), 1)).isLessThan(60 * 60);
        assertThat(plan.runs()).allSatisfy(
                run -> assertThat(plan.size(run).seconds()).isGreaterThanOrEqualTo(2 * run.maxTtlSeconds()));
    }

    @Test
    void quickTakesAboutAMinute() {
        Plan plan = Plan.of(BUCKET_EXPIRY, "quick", Filters.NONE);
        assertThat(plan.estimateSeconds(plan.runs(), 1)).isBetween(60L, 90L);
        assertThat(plan.scale().about()).contains("SCALED");
    }

    /** Each of Figures 4 to 18 has a run of the baseline and of each group of buckets, at the scales that reproduce. */
    @ParameterizedTest
    @CsvSource({"reproduce-quick", "reproduce-small", "paper"})
    void reproduction_everyFigure_hasEachGroupBesideTheBaseline(String scale) {
        Plan plan = Plan.of(BUCKET_EXPIRY, scale, Filters.NONE);
        List<Figure> figures = Objects.requireNonNull(BUCKET_EXPIRY.figures());
        assertThat(figures).extracting(Figure::id)
                .containsExactlyElementsOf(IntStream.rangeClosed(4, 18).mapToObj(i -> "Figure " + i).toList());
        for (Figure figure : figures) {
            List<RunSpec> runs = plan.runs().stream().filter(run -> run.isIn(figure)).toList();
            assertThat(runs).as(figure.id()).extracting(run -> plan.configuration(run).group()).contains("Ref", "60 s",
                    "120 s", "240 s");
            if (figure.shows() != null) {
                assertThat(runs.stream().map(RunSpec::cell).distinct()).as(figure.id() + " is of one setting")
                        .hasSize(1);
            }
        }
    }

    @Test
    void reproduction_buckets_haveThePapersSizesInMaximumTtls() {
        for (String scale : List.of("reproduce-quick", "reproduce-small", "paper")) {
            Plan plan = Plan.of(BUCKET_EXPIRY, scale, Filters.NONE);
            assertThat(plan.runs()).allSatisfy(run -> {
                Map<String, String> settings = plan.configuration(run).settings();
                String group = plan.configuration(run).group();
                if (group.endsWith(" s")) {
                    int sizeMillis = Integer.parseInt(settings.get("expire-buckets"))
                            * Integer.parseInt(settings.get("expire-bucket-base-ms"));
                    assertThat(sizeMillis / (1000.0 * run.maxTtlSeconds())).as(run.id())
                            .isEqualTo(Integer.parseInt(group.replace(" s", "")) / 60.0);
                }
            });
        }
    }

    @Test
    void reproduction_durations_areWithinTheirBounds() {
        Plan quick = Plan.of(BUCKET_EXPIRY, "reproduce-quick", Filters.NONE);
        assertThat(quick.runs()).hasSize(9 + 4 * 4);
        assertThat(quick.estimateSeconds(quick.runs(), 1)).isLessThanOrEqualTo(6 * 60);
        Plan small = Plan.of(BUCKET_EXPIRY, "reproduce-small", Filters.NONE);
        assertThat(small.runs()).hasSize(9 * (2 + 1 + 9)).doesNotHaveDuplicates();
        assertThat(small.estimateSeconds(small.runs(), 1)).isLessThanOrEqualTo(150 * 60);
        assertThat(List.of(quick, small)).allSatisfy(plan -> assertThat(plan.scale().about()).startsWith("SCALED"));
        assertThat(Plan.of(BUCKET_EXPIRY, "paper", Filters.NONE).runs())
                .isEqualTo(Plan.of(BUCKET_EXPIRY, "large", Filters.NONE).runs());
    }

    /** A part has other threads and TTLs than the next one. */
    @Test
    void filters_ofAScaleWithParts_leaveASubset() {
        Plan whole = Plan.of(BUCKET_EXPIRY, "reproduce-small", Filters.NONE);
        Plan one = Plan.of(BUCKET_EXPIRY, "reproduce-small",
                new Filters(List.of(), List.of(), List.of("Ref"), List.of(1), List.of(), List.of()));
        assertThat(one.runs()).extracting(RunSpec::id).containsExactly("a_small-30M_ttl12_1t_Ref");
        Plan two = Plan.of(BUCKET_EXPIRY, "reproduce-small",
                new Filters(List.of(), List.of(), List.of("Ref"), List.of(), List.of(List.of(6, 12)), List.of()));
        assertThat(two.runs()).hasSize(3);
        assertThat(whole.runs()).containsAll(one.runs()).containsAll(two.runs());
    }

    @Test
    void configurationsOfACellFollowEachOther() {
        List<RunSpec> runs = Plan.of(BUCKET_EXPIRY, "small", Filters.NONE).runs();
        assertThat(runs.subList(0, 5).stream().map(RunSpec::cell).collect(Collectors.toSet())).hasSize(1);
    }

    @Test
    void filtersLeaveASubset() {
        Plan plan = Plan.of(BUCKET_EXPIRY, "large", new Filters(List.of("a"), List.of("3M"), List.of("Ref", "wheel"),
                List.of(4), List.of(List.of(30, 60)), List.of()));
        assertThat(plan.runs().stream().map(RunSpec::id)).containsExactly("a_3M_ttl30-60_4t_Ref",
                "a_3M_ttl30-60_4t_wheel");
    }

    @Test
    void configFilter_earlierNameWheel_selectsVarve() {
        Filters wheel = new Filters(List.of(), List.of(), List.of("wheel"), List.of(), List.of(), List.of());
        assertThat(Plan.of(read("memory-fit"), "small", wheel).configurations()).containsOnlyKeys("Varve");
        assertThat(Plan.of(BUCKET_EXPIRY, "small", wheel).configurations()).containsOnlyKeys("wheel");
    }

    @Test
    void againstNamesTheOtherServers() {
        assertThat(Plan.of(BUCKET_EXPIRY, "small", against("varve")).configurations()).doesNotContainKey("Redis");
        assertThat(Plan.of(BUCKET_EXPIRY, "quick", Filters.NONE).configurations()).containsOnlyKeys("Ref", "wheel");
        assertThat(Plan.of(BUCKET_EXPIRY, "quick", against("redis")).configurations())
                .containsOnlyKeys("Ref", "wheel", "Redis");
        assertThat(Plan.of(BUCKET_EXPIRY, "quick", against("localhost:7000")).configurations())
                .containsOnlyKeys("Ref", "wheel", "localhost:7000");
    }

    @Test
    void unknownNameIsReportedWithKnownNames() {
        assertThatThrownBy(() -> Plan.of(BUCKET_EXPIRY, "huge", Filters.NONE))
                .isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("huge")
                .hasMessageContaining("quick, small, medium, large");
        assertThatThrownBy(() -> Plan.of(BUCKET_EXPIRY, "small", against("memcached")))
                .hasMessageContaining("memcached")
                .hasMessageContaining("HOST:PORT");
        Filters filters = new Filters(List.of("z"), List.of(), List.of(), List.of(), List.of(), List.of());
        assertThatThrownBy(() -> Plan.of(BUCKET_EXPIRY, "small", filters)).hasMessageContaining("'z'")
                .hasMessageContaining("a, f, i");
    }

    @Test
    void theOtherExperimentsCanBePlanned() {
        assertThat(Plan.of(read("expiry"), "small", Filters.NONE).runs()).hasSize(8);
        assertThat(Plan.of(read("memory-fit"), "small", Filters.NONE).runs()).hasSize(2);
        assertThat(Plan.of(read("memory-per-key"), "small", Filters.NONE).runs()).hasSize(12);
        assertThat(Plan.of(read("cleaner"), "small", Filters.NONE).runs()).hasSize(14 * 6);
    }

    @Test
    void fragmentationIsTableOneForEachServer() {
        Plan small = Plan.of(read("fragmentation"), "small", Filters.NONE);
        assertThat(small.runs()).hasSize(8 * 2);
        assertThat(small.runs())
                .allSatisfy(run -> assertThat(small.fragmentation(run).loadBytes()).isEqualTo(2L << 30));
        Plan quick = Plan.of(read("fragmentation"), "quick", Filters.NONE);
        assertThat(quick.runs()).extracting(RunSpec::workload).containsOnly("W3");
        assertThat(quick.fragmentation(quick.runs().getFirst()).loadBytes()).isEqualTo(200L << 20);
        assertThat(quick.scale().about()).startsWith("SCALED");
    }

    @Test
    void latencyMeasuresTheBaselineFirstAndGivesEachServerItsLimit() {
        for (String scale : List.of("quick", "small", "medium", "large")) {
            Plan plan = Plan.of(read("latency"), scale, Filters.NONE);
            assertThat(plan.runs()).extracting(RunSpec::configuration).containsExactly("Redis", "serial");
            assertThat(plan.maxmemory(plan.runs().getFirst())).isNotEqualTo(plan.maxmemory(plan.runs().getLast()));
            assertThat(plan.runs()).allSatisfy(run -> {
                assertThat(plan.size(run).warmupSeconds()).isGreaterThanOrEqualTo(2);
                assertThat(plan.latency(run).connections()).isEqualTo(50);
            });
        }
        Plan large = Plan.of(read("latency"), "large", Filters.NONE);
        assertThat(large.size(large.runs().getFirst()).operationCount()).isEqualTo(600L * 20_000);
        assertThat(Plan.of(read("latency"), "quick", Filters.NONE).scale().about()).startsWith("SCALED");
    }

    @Test
    void everyLoadOfTheCleanerCanBeMade() {
        Plan cleaner = Plan.of(read("cleaner"), "small", Filters.NONE);
        assertThat(cleaner.runs()).allSatisfy(run -> assertThat(cleaner.cleaner(run).writesPerSecond()).isPositive());
    }

    @Test
    void inThroughputTheBaselineTakesTurnsInTheOthersRuns() {
        Plan quick = Plan.of(read("throughput"), "quick", Filters.NONE);
        assertThat(quick.runs()).extracting(RunSpec::configuration).containsExactly("Varve");
        assertThat(quick.rival()).contains("Redis");
        assertThat(quick.estimateSeconds(quick.runs(), 1)).isLessThan(120);
        assertThat(Plan.of(read("throughput"), "quick", against("varve")).rival()).isEmpty();
        Plan small = Plan.of(read("throughput"), "small", Filters.NONE);
        assertThat(small.estimateSeconds(small.runs(), 1)).isLessThan(35 * 60);
        assertThat(small.maxmemory(small.runs().getFirst())).isEqualTo("256mb");
        assertThat(small.maxmemory(small.runs().getLast())).isEqualTo("2gb");
    }

    /** A setting without another value would be measured against itself. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"a=1|b=1|GET|1|the same settings in both", "a=1||GET|1|at least one",
            "a=1|a=1|GET|1|a value that differs", "a|a=1|GET|1|NAME=VALUE", "a=1|a=2|SET|1|one or more of tests, GET",
            "a=1|a=2||1|one or more of tests", "a=1|a=2|GET|1 2|one or more of pipelines, 1"})
    void aSwitchThatDoesNotSwitchIsRefused(String settings, @Nullable String baselineSettings, @Nullable String tests,
            String pipelines, String message) {
        Map<String, String> workload = new HashMap<>(Map.of("tests", "GET", "pipelines", "1", "switched-settings",
                settings, "switched-pipelines", pipelines));
        workload.put("unswitched-settings", baselineSettings == null ? "" : baselineSettings);
        workload.put("switched-tests", tests == null ? "" : tests);
        assertThatThrownBy(() -> ServerVariant.of(workload)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void withoutASwitchNothingIsSwitched() {
        assertThat(ServerVariant.of(Map.of("tests", "GET"))).isEmpty();
        Plan recording = Plan.of(read("recording"), "small", Filters.NONE);
        ServerVariant recorded = recording.serverVariant(recording.runs().getFirst()).orElseThrow();
        assertThat(recorded.settings()).containsEntry("mrc-tracking", "yes");
        assertThat(recorded.baselineSettings()).containsEntry("mrc-tracking", "no");
        assertThat(recording.rival()).isEmpty();
    }

    @Test
    void thePenaltyExperimentMeasuresTheSetOfAWorkloadBeforeItIsHalved() {
        Plan quick = Plan.of(read("penalty"), "quick", Filters.NONE);
        assertThat(quick.runs()).extracting(run -> run.workload() + " " + run.configuration()).containsExactly(
                "c-quick unlimited", "c-quick lru", "c-quick hyperbolic", "c-quick penalty", "c-quick penalty-hint",
                "a-quick unlimited", "a-quick lru", "a-quick hyperbolic", "a-quick penalty", "a-quick penalty-hint",
                "a-stress-quick unlimited", "a-stress-quick lru", "a-stress-quick hyperbolic",
                "a-stress-quick penalty", "a-stress-quick penalty-hint");
        assertThat(quick.scale().about()).startsWith("COMPRESSED");
        assertThat(quick.estimateSeconds(quick.runs(), 1)).isBetween(240L, 480L);
        Plan small = Plan.of(read("penalty"), "small", Filters.NONE);
        assertThat(small.runs()).hasSize(7 * 5);
        assertThat(small.estimateSeconds(small.runs(), 1)).as("what its description says").isBetween(4800L, 6000L);
        assertThat(small.scale().about()).contains("an hour and a half");
        assertThat(small.runs()).allSatisfy(run -> {
            RunSpec measuring = small.workingSetRun(run).orElseThrow();
            assertThat(measuring.configuration()).isEqualTo("unlimited");
            assertThat(measuring.workload()).isEqualTo(run.workload());
        });
        Plan one = Plan.of(read("penalty"), "small", new Filters(List.of("b-small"), List.of(), List.of("penalty"),
                List.of(), List.of(), List.of()));
        assertThat(one.runs()).as("the measured set is included").extracting(RunSpec::configuration)
                .containsExactly("unlimited", "penalty");
    }

    @Test
    void aWorkloadThatTheScaleDoesNotHaveIsRefused() {
        assertThatThrownBy(() -> Plan.of(read("penalty"), "small", new Filters(List.of("c-small", "c"), List.of(),
                List.of(), List.of(), List.of(), List.of()))).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("--workload 'c': scale small has a-small, b-small");
    }

    @Test
    void theDemandThatPausesIsAPenaltyExperimentWithFlash() {
        Plan quick = Plan.of(read("penalty-periodic"), "quick", Filters.NONE);
        assertThat(quick.runs()).extracting(RunSpec::configuration).containsExactly("unlimited", "lru", "hyperbolic",
                "penalty-hint", "penalty-flash", "penalty-dump-quick");
        PenaltyLoad load = quick.penalty(quick.runs().getLast());
        assertThat(load.client()).containsEntry("workload", "io.varve.ycsb.PausingWorkload")
                .containsEntry("remotepauses", "20-30,45-65").containsEntry("target", "1000")
                .containsEntry("readproportion", "1");
        assertThat(quick.scale().about()).startsWith("COMPRESSED");
        Plan small = Plan.of(read("penalty-periodic"), "small", Filters.NONE);
        assertThat(small.estimateSeconds(small.runs(), 1)).as("its rate is given").isBetween(1500L, 1700L);
    }

    /**
     * Otherwise the thrashing class is dumped and loaded all the time, unlike the paper's (its section 6.4, point 6).
     */
    @ParameterizedTest
    @CsvSource({"quick", "small"})
    void thePausesAreValleysAndTheThrashingIsNone(String scale) {
        Plan plan = Plan.of(read("penalty-periodic"), scale, Filters.NONE);
        RunSpec run = plan.runs().getLast();
        Map<String, String> settings = plan.configuration(run).settings();
        assertThat(settings).containsEntry("demand-cycles", "yes");
        double valleySeconds = Double.parseDouble(settings.get("demand-slot-ms")) / 1000
                * Integer.parseInt(settings.get("demand-duration"));
        double percentSeconds = plan.size(run).operations() / 100.0
                / Integer.parseInt(plan.penalty(run).client().get("target"));
        assertThat(percentSeconds).as("a percent of the operations, s").isLessThan(valleySeconds / 2);
        assertThat(10 * percentSeconds).as("the shorter pause, s").isGreaterThan(2 * valleySeconds);
    }

    @Test
    void penaltyWorkloadHasPropertiesOfItsFileAndItsOwn() {
        Plan plan = Plan.of(read("penalty"), "quick", Filters.NONE);
        PenaltyLoad stress = plan.penalty(plan.runs().getLast());
        assertThat(stress.client()).containsEntry("readproportion", "0.5")
                .containsEntry("varve.db.remote.delay-us", "1000")
                .containsEntry("db", "io.varve.ycsb.CacheAsideClient").containsEntry("fieldlength", "1000")
                .doesNotContainKeys("file", "stress-at", "aims", "windows");
        assertThat(stress.stress()).isEqualTo(0.4);
        assertThat(stress.share()).isEqualTo(0.5);
        assertThat(stress.aims()).isEqualTo(Map.of("lru", 25.0, "hyperbolic", 12.0));
        assertThat(plan.penalty(plan.runs().getFirst()).stress()).isNaN();
        assertThat(stress.window(30_000)).as("no less than the server takes").isEqualTo(10_000);
        assertThat(stress.window(1_000_000)).isEqualTo(250_000);
        assertThat(stress.window(500_000_000)).as("no more than the paper's").isEqualTo(1_000_000);
        Map<String, Long> windows = Map.of("small", 15_000L, "medium", 50_000L, "large", 1_000_000L);
        windows.forEach((scale, window) -> {
            Plan other = Plan.of(read("penalty"), scale, Filters.NONE);
            assertThat(other.runs()).as(scale).allSatisfy(run -> assertThat(
                    other.penalty(run).window(other.size(run).operations())).isEqualTo(window));
        });
    }

    @Test
    void invalidPenaltyWorkloadIsRefusedWithAllowedValues(@TempDir Path directory) throws IOException {
        assertThatThrownBy(() -> PenaltyLoad.of("x", Map.of("memory-share", "1.5")))
                .isInstanceOf(InvalidExperimentException.class).hasMessageContaining("workload x")
                .hasMessageContaining("memory-share above 0");
        assertThatThrownBy(() -> PenaltyLoad.of("x", Map.of("stress-at", "1"))).hasMessageContaining("stress-at");
        assertThatThrownBy(() -> PenaltyLoad.of("x", Map.of("aims", "lru"))).hasMessageContaining("workload x");
        String text = Files.readString(Path.of("..", "workloads", "experiments", "penalty.yaml"));
        Path definitions = Files.createDirectories(directory.resolve("experiments"));
        Files.writeString(definitions.resolve("penalty.yaml"), text);
        assertThatThrownBy(() -> new ExperimentFiles(definitions).read("penalty"))
                .isInstanceOf(InvalidExperimentException.class).hasMessageContaining("'cache-aside-")
                .hasMessageContaining(directory.toString());
    }

    @Test
    void aSizeMayDivideTheWorkloadsKeys() {
        Plan quick = Plan.of(read("memory-per-key"), "quick", Filters.NONE);
        assertThat(quick.keys(quick.runs().getFirst())).isEqualTo(500_000);
        assertThat(Plan.of(BUCKET_EXPIRY, "quick", Filters.NONE).runs()).allSatisfy(
                run -> assertThat(Plan.of(BUCKET_EXPIRY, "quick", Filters.NONE).keys(run)).isPositive());
    }
}
