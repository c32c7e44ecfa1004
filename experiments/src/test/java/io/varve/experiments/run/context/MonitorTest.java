package io.varve.experiments.run.context;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.result.InfoTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.Sample;
import io.varve.experiments.server.Target;
import io.varve.experiments.server.Targets;
import io.varve.experiments.wire.RespConnection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Samples INFO of a Varve in this process. Confined to the test's thread. */
final class MonitorTest {
    @TempDir
    private Path directory;

    @Test
    @Timeout(60)
    void everySample_hasARowOfMemoryAndOneOfAllNumbers() throws IOException {
        Configuration varve = new Configuration(Server.VARVE, "wheel", Map.of(), null, null, null, null, null, null);
        try (Target target = new Targets(Path.of("..")).open(varve, true, "64mb", "", directory, false);
                RespConnection connection = new RespConnection(target.host(), target.port())) {
            connection.call("SET", "key", "value", "EX", "100");
            try (Monitor monitor = Monitor.start(target, new LoadGauge(), directory, System.nanoTime(), 0)) {
                while (monitor.samples().size() < 3 && monitor.fault() == null) {
                    Thread.onSpinWait();
                }
                assertThat(monitor.fault()).isNull();
            }
        }
        InfoTable info = InfoTable.parse(Files.readAllLines(directory.resolve(RunFiles.INFO_CSV)));
        assertThat(info.fields()).contains("used_memory", "used_memory_rss", "mem_fragmentation_ratio", "expired_keys",
                "evicted_keys", "keyspace_hits", "total_commands_processed", "connected_clients", "keys", "expires",
                "expired_unreclaimed_items").doesNotContain("process_id", "master_repl_offset").doesNotHaveDuplicates();
        assertThat(Files.readAllLines(directory.resolve(RunFiles.MEMORY_CSV))).hasSize(1 + info.rows().size())
                .startsWith(Sample.CSV_HEADER);
        assertThat(info.rows()).allSatisfy(row -> {
            assertThat(row).hasSize(1 + info.fields().size());
            assertThat(row.get(1 + info.fields().indexOf("expires"))).isEqualTo(1);
        });
    }
}
