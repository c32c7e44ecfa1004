package io.varve.experiments.plan;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the plan of the experiment on placement. Confined to the test's thread. */
final class PlacementLoadTest {
    private static final Map<String, String> WORKLOAD = Map.of("members", "8", "keys", "1000", "keys-are", "hashed",
            "identifiers", "1 8");

    private static Plan plan(String scale) throws IOException {
        return Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("virtual-nodes"), scale,
                Filters.NONE);
    }

    /** Section 4.2: 8 members, 1 to 8 identifiers each, 1,000 keys. */
    @Test
    void eachScale_hasThePapersCluster() throws IOException {
        for (String scale : List.of("quick", "small", "medium")) {
            Plan plan = plan(scale);
            RunSpec run = plan.runs().getFirst();
            PlacementLoad load = plan.placement(run);
            assertThat(load.members()).isEqualTo(8);
            assertThat(load.keys()).isEqualTo(1000);
            assertThat(load.hashed()).isTrue();
            assertThat(load.identifiers()).startsWith(IntStream.rangeClosed(1, 8).boxed().toArray(Integer[]::new))
                    .endsWith(1024);
            assertThat(plan.size(run).repetitions()).isGreaterThanOrEqualTo(100);
            assertThat(Plan.hasServer(plan.kind(run))).isFalse();
        }
    }

    @Test
    void smallScale_hasAThousandMembersAndABillionKeys() throws IOException {
        Plan plan = plan("small");
        assertThat(plan.runs()).extracting(RunSpec::id).containsExactly("eight_seeds-100_ttl_1t_placements",
                "hundred_seeds-5_ttl_1t_placements", "thousand_seeds-5_ttl_1t_placements");
        PlacementLoad load = plan.placement(plan.runs().getLast());
        assertThat(load.members()).isEqualTo(1000);
        assertThat(load.keys()).isEqualTo(1_000_000_000);
        assertThat(load.hashed()).isFalse();
        assertThat(plan.estimateSeconds(plan.runs(), 1)).isBetween(10L, 5 * 60L);
    }

    @ParameterizedTest
    @CsvSource({"members,1", "members,x", "keys,0", "keys-are,lost", "identifiers,''", "identifiers,1 0"})
    void invalidLoad_isRefused(String property, String value) {
        Map<String, String> workload = new HashMap<>(WORKLOAD);
        assertThat(PlacementLoad.of(workload).identifiers()).containsExactly(1, 8);
        workload.put(property, value);
        assertThatThrownBy(() -> PlacementLoad.of(workload)).isInstanceOf(InvalidExperimentException.class);
        workload.remove(property);
        assertThatThrownBy(() -> PlacementLoad.of(workload)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("has no " + property);
    }
}
