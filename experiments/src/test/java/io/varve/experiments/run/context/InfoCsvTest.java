package io.varve.experiments.run.context;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.result.InfoTable;
import io.varve.experiments.wire.ServerInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Writes replies of INFO to {@code info.csv} and reads them. Confined to the test's thread. */
final class InfoCsvTest {
    private static final String REDIS = """
            # Server\r
            redis_version:7.0.15\r
            process_id:21979\r
            \r
            # Memory\r
            used_memory:916304\r
            used_memory_human:894.83K\r
            used_memory_peak_perc:102.51%\r
            mem_fragmentation_ratio:13.60\r
            mem_allocator:jemalloc-5.3.0\r
            \r
            # Stats\r
            expired_keys:3\r
            \r
            # Replication\r
            master_repl_offset:12\r
            \r
            # Keyspace\r
            db0:keys=4,expires=2,avg_ttl=0\r
            db3:keys=5,expires=5,avg_ttl=7\r
            """;
    private static final String LATER = """
            # Memory
            used_memory:916305
            # Stats
            expired_keys:4
            expired_time_cap_reached_count:1
            # Valkey
            own_field:-2.5
            # Commandstats
            cmdstat_get:calls=1
            """;

    @TempDir
    private Path directory;

    @Test
    void numbers_areThoseOfMemoryStatisticsAndKeys() {
        assertThat(ServerInfo.parse(REDIS).numbers()).containsExactly(entry("used_memory", "916304"),
                entry("used_memory_peak_perc", "102.51"), entry("mem_fragmentation_ratio", "13.60"),
                entry("expired_keys", "3"), entry("keys", "9"), entry("expires", "7"));
    }

    private static java.util.Map.Entry<String, String> entry(String name, String value) {
        return java.util.Map.entry(name, value);
    }

    @Test
    void add_fieldsThatAppearLater_becomeTheLastColumns() throws IOException {
        Path file = directory.resolve("info.csv");
        try (InfoCsv csv = new InfoCsv(file)) {
            csv.add(10, ServerInfo.parse(REDIS));
            assertThat(Files.readAllLines(file)).as("a row is on disk at once").hasSize(2);
            csv.add(1010, ServerInfo.parse(LATER));
            csv.add(2010, ServerInfo.parse(REDIS));
        }
        InfoTable table = InfoTable.parse(Files.readAllLines(file));
        assertThat(table.fields()).containsExactly("used_memory", "used_memory_peak_perc", "mem_fragmentation_ratio",
                "expired_keys", "keys", "expires", "expired_time_cap_reached_count", "own_field");
        assertThat(table.rows()).containsExactly(
                List.of(10.0, 916304.0, 102.51, 13.6, 3.0, 9.0, 7.0, Double.NaN, Double.NaN),
                List.of(1010.0, 916305.0, Double.NaN, Double.NaN, 4.0, 0.0, 0.0, 1.0, -2.5),
                List.of(2010.0, 916304.0, 102.51, 13.6, 3.0, 9.0, 7.0, Double.NaN, Double.NaN));
        assertThat(directory).isDirectoryNotContaining("glob:**.next");
    }

    @Test
    void parse_noFile_hasNoFields() {
        assertThat(InfoTable.parse(List.of())).isEqualTo(new InfoTable(List.of(), List.of()));
    }
}
