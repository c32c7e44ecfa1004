package io.varve.experiments.server;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Parses the kernel's files about a process. Confined to the test's thread. */
final class ProcessUsageTest {
    @Test
    void cpuTimeIsUserAndSystemTimeForAnyProcessName() {
        String stat = "4711 (a (b) 9 8) S 1 2 3 4 5 6 7 8 9 10 150 30 7000 8000 20 0 9 0 100";
        assertThat(ProcessUsage.cpuMicros(stat)).isEqualTo(1_800_000);
        assertThat(ProcessUsage.childCpuMicros(stat)).as("of ended children").isEqualTo(150_000_000);
        assertThatThrownBy(() -> ProcessUsage.cpuMicros("1 (x) S 1")).hasMessageContaining("2 fields");
    }

    @Test
    void residentMemoryIsInKibibytes() {
        assertThat(ProcessUsage.residentBytes("Name:\tx\nVmHWM:\t   999 kB\nVmRSS:\t   12345 kB\nThreads:\t3\n"))
                .isEqualTo(12345L * 1024);
        assertThat(ProcessUsage.peakResidentBytes("Name:\tx\nVmHWM:\t   999 kB\nVmRSS:\t   123 kB\n"))
                .isEqualTo(999L * 1024);
        assertThatThrownBy(() -> ProcessUsage.residentBytes("Name:\tx\n")).hasMessageContaining("VmRSS");
    }

    @Test
    void bytesReadFromDevices_areThoseThatThePageCacheDidNotServe() {
        assertThat(ProcessUsage.deviceReadBytes("rchar: 9000\nread_bytes: 8192\nwrite_bytes: 4096\n")).isEqualTo(8192);
    }
}
