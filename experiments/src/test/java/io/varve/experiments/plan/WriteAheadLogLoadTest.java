package io.varve.experiments.plan;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.WriteAheadLogLoad.Load;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the plans of the experiments on logs and locks. Confined to the test's thread. */
final class WriteAheadLogLoadTest {
    private static Plan plan(String experiment, String scale) throws IOException {
        Experiment read = new ExperimentFiles(Path.of("..", "workloads", "experiments")).read(experiment);
        return Plan.of(read, scale, Filters.NONE);
    }

    @Test
    void smallScale_hasTenWritersOfFiftyRecords_andFourLoads() throws IOException {
        Plan plan = plan("write-ahead-log", "small");
        WriteAheadLogLoad load = plan.writeAheadLog(plan.runs().getFirst());
        assertThat(load.writers()).isEqualTo(10);
        assertThat(load.records()).isEqualTo(50);
        assertThat(load.loads()).containsExactly(new Load(1, 1), new Load(50, 1), new Load(50, 16), new Load(50, 64));
        assertThat(load.loads().getFirst().title()).isEqualTo("1 client");
        assertThat(load.loads().getLast().atOnce()).isEqualTo(3200);
        assertThat(load.maxEverysecCost()).isEqualTo(1.1);
        assertThat(load.minAlwaysThroughput()).isEqualTo(0.5);
    }

    /** Each of the three servers has each of the four modes once. */
    @Test
    void oneRun_startsAllConfigurations() throws IOException {
        Plan plan = plan("write-ahead-log", "quick");
        assertThat(plan.runs()).hasSize(1);
        assertThat(plan.available()).hasSize(3 * 4);
        for (String server : List.of("Varve", "Redis", "Valkey")) {
            assertThat(plan.available().stream().filter(name -> name.startsWith(server))
                    .map(name -> LogMode.of(Objects.requireNonNull(plan.configurations().get(name)).settings())))
                    .containsExactly(LogMode.values());
        }
        assertThat(plan.without(Map.of("Valkey", "absent", "Valkey-no", "absent")).available()).hasSize(10)
                .doesNotContain("Valkey", "Valkey-no");
    }

    @Test
    void locks_haveThePapersThreadsAndWords() throws IOException {
        Plan plan = plan("locks", "small");
        assertThat(plan.runs()).hasSize(1);
        assertThat(plan.keys(plan.runs().getFirst())).isEqualTo(18_430);
        LocksLoad load = plan.locks(plan.runs().getFirst());
        assertThat(load.threads()).isEqualTo(50);
        assertThat(load.stores()).containsExactly(LocksLoad.ONE_LOCK, LocksLoad.READERS_WRITER_LOCK,
                LocksLoad.SEGMENT_LOCKS, LocksLoad.VARVE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "50", "x1", "50x0", "50 x 1"})
    void invalidLoad_isRefusedWithItsForm(String loads) {
        assertThatThrownBy(() -> WriteAheadLogLoad.of(Map.of("loads", loads)))
                .isInstanceOf(InvalidExperimentException.class).hasMessageContaining("CLIENTSxPIPELINE");
    }
}
