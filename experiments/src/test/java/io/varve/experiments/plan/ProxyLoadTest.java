package io.varve.experiments.plan;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the plan of the experiment on the proxy. Confined to the test's thread. */
final class ProxyLoadTest {
    private static final Map<String, String> WORKLOAD = Map.of("members", "3", "connections", "16", "reads", "90",
            "value-bytes", "32", "distributions", "unif zipf", "pipelines", "1 16", "windows", "0 2");

    @Test
    void eachScale_comparesRoutersWithTwoProxies() throws IOException {
        for (String scale : List.of("quick", "small", "full")) {
            Plan plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("proxy"), scale,
                    Filters.NONE);
            RunSpec run = plan.runs().getFirst();
            assertThat(plan.runs()).hasSize(1);
            ProxyLoad load = plan.proxy(run);
            assertThat(load.members()).isEqualTo(3);
            assertThat(load.windows()).containsExactly(0, 2);
            assertThat(load.distributions()).containsExactly(KeyDistribution.Kind.UNIF, KeyDistribution.Kind.ZIPF);
            assertThat(load.turns()).isEqualTo(12);
            assertThat(Plan.hasServer(plan.kind(run))).isFalse();
            assertThat(plan.estimateSeconds(run)).isBetween(20L, 15 * 60L);
        }
    }

    @ParameterizedTest
    @CsvSource({"members,0", "members,x", "connections,0", "reads,101", "value-bytes,0", "distributions,even",
            "pipelines,0", "windows,21", "windows,-1"})
    void invalidLoad_isRefused(String property, String value) {
        Map<String, String> workload = new HashMap<>(WORKLOAD);
        assertThat(ProxyLoad.of(workload).pipelines()).containsExactly(1, 16);
        workload.put(property, value);
        assertThatThrownBy(() -> ProxyLoad.of(workload)).isInstanceOf(InvalidExperimentException.class);
        workload.remove(property);
        assertThatThrownBy(() -> ProxyLoad.of(workload)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("has no " + property);
    }
}
