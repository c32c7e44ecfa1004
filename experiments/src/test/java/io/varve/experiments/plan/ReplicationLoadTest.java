package io.varve.experiments.plan;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.ReplicationLoad.Pair;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the plan of the experiment on replication. Confined to the test's thread. */
final class ReplicationLoadTest {
    private static final Map<String, String> WORKLOAD = Map.of("connections", "50", "pipeline", "16", "write-keys",
            "1000", "value-bytes", "32", "sync-rate", "1000", "reads", "80", "catch-up-rate", "2000",
            "stopped-seconds", "2", "migrations", "Redis>Varve");

    private static Plan plan(String scale, Filters filters) throws IOException {
        return Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("replication"), scale,
                filters);
    }

    @Test
    void eachScale_comparesAllServersInOneRun() throws IOException {
        Map<String, Long> keys = Map.of("quick", 100_000L, "small", 1_000_000L, "full", 10_000_000L);
        for (Map.Entry<String, Long> scale : keys.entrySet()) {
            Plan plan = plan(scale.getKey(), Filters.NONE);
            RunSpec run = plan.runs().getFirst();
            assertThat(plan.runs()).hasSize(1);
            assertThat(Plan.hasServer(plan.kind(run))).isFalse();
            assertThat(plan.keys(run)).isEqualTo(scale.getValue());
            assertThat(plan.replication(run).pairs(plan.available())).extracting(Pair::name).containsExactly("Varve",
                    "Redis", "Valkey", "Varve-follows-Redis");
            assertThat(plan.estimateSeconds(run)).isBetween(20L, 60 * 60L);
        }
        assertThat(plan("quick", Filters.NONE).scale().about()).startsWith("SCALED");
    }

    @Test
    void sizeFilter_choosesFewerKeys() throws IOException {
        Plan plan = plan("full",
                new Filters(List.of(), List.of("3M"), List.of("Varve"), List.of(), List.of(), List.of()));
        RunSpec run = plan.runs().getFirst();
        assertThat(plan.keys(run)).isEqualTo(3_000_000);
        assertThat(plan.replication(run).pairs(plan.available())).as("without Redis nothing migrates")
                .containsExactly(new Pair("Varve", "Varve"));
    }

    @ParameterizedTest
    @CsvSource({"connections,0", "pipeline,x", "write-keys,0", "value-bytes,0", "sync-rate,0", "reads,101",
            "catch-up-rate,0", "stopped-seconds,0"})
    void invalidLoad_isRefused(String property, String value) {
        Map<String, String> workload = new HashMap<>(WORKLOAD);
        assertThat(ReplicationLoad.of(workload).migrations()).containsExactly(new Pair("Redis", "Varve"));
        workload.put(property, value);
        assertThatThrownBy(() -> ReplicationLoad.of(workload)).isInstanceOf(InvalidExperimentException.class);
        workload.remove(property);
        assertThatThrownBy(() -> ReplicationLoad.of(workload)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("has no " + property);
    }

    @ParameterizedTest
    @CsvSource({"Redis", ">Varve", "Redis>"})
    void invalidMigration_isRefused(String migration) {
        Map<String, String> workload = new HashMap<>(WORKLOAD);
        workload.put("migrations", migration);
        assertThatThrownBy(() -> ReplicationLoad.of(workload)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("expected PRIMARY>REPLICA");
    }
}
