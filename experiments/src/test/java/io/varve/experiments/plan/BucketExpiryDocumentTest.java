package io.varve.experiments.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.run.context.Durations;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares the scales of bucket-expiry with their table in workloads/README.md. Confined to the test's thread. */
final class BucketExpiryDocumentTest {
    private static final Path WORKLOADS = Path.of("..", "workloads");

    @Test
    void document_hasEachScaleWithItsRunsAndDuration() throws IOException {
        Experiment experiment = new ExperimentFiles(WORKLOADS.resolve("experiments")).read("bucket-expiry");
        List<String> rows = Files.readString(WORKLOADS.resolve("README.md")).lines()
                .filter(line -> experiment.scales().keySet().stream()
                        .anyMatch(scale -> line.startsWith("| `" + scale + "` | ")))
                .toList();
        for (String scale : experiment.scales().keySet()) {
            Plan plan = Plan.of(experiment, scale, Filters.NONE);
            assertThat(rows).anySatisfy(row -> assertThat(row).startsWith("| `" + scale + "` | " + plan.runs().size()
                    + " | " + Durations.words(plan.estimateSeconds(plan.runs(), 1)) + " | "));
        }
    }
}
