package io.varve.server.config;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the division of memory between the JVM and maxmemory. Confined to the test's thread. */
class MemoryPlanTest {
    private static final long MB = 1 << 20;

    private static MemoryPlan plan(long limit, long heap, long direct, long code) {
        return new MemoryPlan(limit * MB, heap * MB, direct * MB, code * MB);
    }

    /** The launcher's parts: the default, and what fits at the most. */
    @ParameterizedTest
    @CsvSource({"128,32,8,12,36,44", "192,32,12,24,64,76", "256,32,16,24,120,136", "320,40,20,24,160,188",
            "512,64,32,32,256,336", "1024,96,64,48,512,768", "24576,96,64,48,12288,24320"})
    void theDefaultAndWhatTheJvmTakesFit(long limit, long heap, long direct, long code, long byDefault, long max) {
        MemoryPlan plan = plan(limit, heap, direct, code);
        assertThat(plan.defaultMaxMemoryBytes() / MB).isEqualTo(byDefault);
        assertThat(plan.fits(plan.defaultMaxMemoryBytes())).isTrue();
        assertThat(plan.fits(max * MB)).isTrue();
        assertThat(plan.fits(max * MB + 1)).isFalse();
    }

    /** The contract: the process stays under maxmemory and 256 MB. */
    @Test
    void aLargeMachinesJvmMayTake256MegabytesBesideMaxMemory() {
        assertThat(plan(65_536, 96, 64, 48).jvmBytes()).isEqualTo(256 * MB);
    }

    @Test
    void withoutFreeMemoryTheDefaultIsAnEighthWithAWarning() {
        MemoryPlan plan = plan(64, 32, 8, 12);
        assertThat(plan.defaultMaxMemoryBytes()).isEqualTo(8 * MB);
        assertThat(plan.fits(plan.defaultMaxMemoryBytes())).isFalse();
        assertThat(plan.warning(8 * MB)).contains("maxmemory 8388608 (8.00M)", "84.00M for the JVM", "64.00M",
                "Use a larger machine or container");
    }

    @ParameterizedTest
    @CsvSource({"64,32,8,12,8", "128,32,8,12,48", "256,32,16,24,152", "512,64,32,32,408", "1024,96,64,48,1024",
            "65536,96,64,48,65536"})
    void impossibleMaxmemoryIsRefused(long limit, long heap, long direct, long code, long max) {
        MemoryPlan plan = plan(limit, heap, direct, code);
        plan.require(max * MB);
        plan.require(plan.defaultMaxMemoryBytes());
        assertThatThrownBy(() -> plan.require(max * MB + 1)).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("maxmemory " + (max * MB + 1) + ": expected at most ")
                .hasMessageContaining(max * MB + " bytes");
    }

    @Test
    void theWarningNamesWhatFits() {
        assertThat(plan(512, 64, 32, 32).warning(400 * MB)).contains("maxmemory 419430400 (400.00M)",
                "176.00M for the JVM are more than the 512.00M", "at most 352321536 (336.00M)");
    }

    @Test
    void aLargerHeapLeavesLessMaxmemory() {
        assertThat(plan(1024, 600, 64, 48).defaultMaxMemoryBytes() / MB).isEqualTo(1024 - 600 - 64 - 48 - 48 - 64);
    }

    @Test
    void thisProcessUsesTheLimitsOfItsJvm() {
        MemoryPlan plan = MemoryPlan.ofThisProcess();
        assertThat(plan.limitBytes()).isEqualTo(MachineMemory.totalBytes());
        assertThat(plan.heapBytes()).isGreaterThanOrEqualTo(Runtime.getRuntime().maxMemory());
        assertThat(plan.directBytes()).isBetween(MB, 64 * MB);
        assertThat(plan.codeBytes()).isBetween(MB, 48 * MB);
        assertThat(plan.maxEventLoops()).isBetween(1, 128);
    }
}
