package io.varve.server.admin;

import java.util.List;

import io.varve.memory.report.CacheStats;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the findings of MEMORY DOCTOR. Confined to the test's thread. */
class MemoryReportTest {
    private static final long MB = 1 << 20;

    private static MemoryFigures figures(long usedMegabytes, long liveMegabytes, long deadMegabytes,
            long chargedMegabytes, long peakMegabytes, long residentMegabytes, long expired, long evicted,
            long bufferMegabytes) {
        CacheStats stats = new CacheStats(1000 * MB, chargedMegabytes * MB, usedMegabytes * MB, liveMegabytes * MB,
                liveMegabytes * MB, deadMegabytes * MB, 1 << 20, 1, 1, MB, 0.8, false, MB,
                List.of(new CacheStats.Database(1000, 500, 100, MB, 0)), expired, 0, 0, 0, evicted, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0);
        return new MemoryFigures(stats, bufferMegabytes * MB, 0, 0, MB, peakMegabytes * MB, residentMegabytes * MB,
                2000 * MB, 1000 * MB, new MemoryFigures.ScriptFigures(0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void nothingIsFoundWhereNothingIsWrong() {
        assertThat(MemoryReport.diagnosis(figures(100, 90, 8, 110, 100, 200, 0, 0, 1), 10))
                .isEqualTo("No memory issue was found.\n");
        assertThat(MemoryReport.diagnosis(figures(4, 1, 3, 110, 100, 200, 0, 0, 1), 10)).startsWith("Too little");
    }

    @Test
    void eachFindingNamesARemedy() {
        assertThat(MemoryReport.diagnosis(figures(100, 90, 8, 110, 151, 200, 0, 0, 1), 10)).contains(" * Peak: 151.00M",
                "MEMORY PURGE");
        assertThat(MemoryReport.diagnosis(figures(100, 50, 40, 110, 100, 200, 0, 0, 1), 10))
                .contains(" * Dead space: segments hold 40.00M", "allocator_frag_ratio 1.80");
        assertThat(MemoryReport.diagnosis(figures(100, 90, 8, 110, 100, 400, 0, 0, 1), 10))
                .contains(" * Outside maxmemory: the process has 400.00M");
        assertThat(MemoryReport.diagnosis(figures(100, 90, 8, 110, 100, 200, 0, 0, 10), 10))
                .contains(" * Connections: 10 clients hold 10.00M", "CLIENT LIST");
        assertThat(MemoryReport.diagnosis(figures(960, 900, 8, 970, 960, 1100, 0, 5, 1), 10))
                .contains(" * Memory limit: maxmemory 1000.00M is used up, and 5 keys have been evicted");
        assertThat(MemoryReport.diagnosis(figures(100, 90, 8, 110, 100, 200, 200, 0, 1), 10))
                .contains(" * Expiry: 200 of 1000 items");
    }
}
