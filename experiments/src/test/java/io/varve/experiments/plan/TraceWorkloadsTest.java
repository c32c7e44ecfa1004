package io.varve.experiments.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.simulate.TraceFile;
import io.varve.experiments.simulate.TraceFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the workloads of trace files. Confined to the test's thread. */
final class TraceWorkloadsTest {
    @TempDir
    private Path folder;

    private static Experiment read(String name) throws IOException {
        return new ExperimentFiles(Path.of("..", "workloads", "experiments")).read(name);
    }

    @Test
    void eachTraceIsAWorkloadOfEachScale() throws IOException {
        Experiment simulated = TraceWorkloads.add(read("tbf-simulated"),
                List.of("some/web.txt.xz", "prxy_1.csv.gz:msr", "other/web.txt"));
        assertThat(simulated.scales().values())
                .allSatisfy(scale -> assertThat(scale.workloads()).contains("web", "prxy_1", "web-2"));
        Plan plan = Plan.of(simulated, "quick", Filters.NONE);
        RunSpec run = plan.runs().stream().filter(each -> each.workload().equals("prxy_1")).findFirst().orElseThrow();
        SimulatedLoad load = plan.simulated(run);
        assertThat(load.source()).isInstanceOfSatisfying(TraceFile.class, trace -> {
            assertThat(trace.path()).isEqualTo(Path.of("prxy_1.csv.gz"));
            assertThat(trace.format()).isEqualTo(TraceFormat.MSR);
            assertThat(trace.blockBytes()).isEqualTo(4096);
        });
        assertThat(load.ycsb()).isEmpty();
        assertThat(load.percents()).containsExactly(1.0, 5.0, 20.0);
    }

    @Test
    void withoutTraces_theExperimentIsTheSame() throws IOException {
        Experiment experiment = read("tbf-simulated");
        assertThat(TraceWorkloads.add(experiment, List.of())).isSameAs(experiment);
        assertThat(Plan.of(experiment, "quick", Filters.NONE).runs()).extracting(RunSpec::workload)
                .doesNotContain("trace");
    }

    @Test
    void anExperimentWithoutTraces_refusesThem() throws IOException {
        Experiment experiment = read("tbf-observed");
        assertThatThrownBy(() -> TraceWorkloads.add(experiment, List.of("some"))).isInstanceOf(
                InvalidExperimentException.class).hasMessageContaining("takes no traces");
    }

    @Test
    void aTraceIsAnAbsoluteFileAndAFormat() throws IOException {
        Path file = Files.writeString(folder.resolve("a:b"), "1\n");
        assertThat(TraceWorkloads.absolute(file.toString())).isEqualTo(file + ":keys");
        assertThat(TraceWorkloads.absolute(file + ":spc")).isEqualTo(file + ":spc");
        assertThatThrownBy(() -> TraceWorkloads.absolute("absent")).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("--trace 'absent'");
    }
}
