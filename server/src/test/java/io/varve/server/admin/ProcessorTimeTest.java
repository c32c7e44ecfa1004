package io.varve.server.admin;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Parses /proc/self/stat. Confined to the test's thread. */
class ProcessorTimeTest {
    @Test
    void theNameMayHoldParenthesesAndBlanks() {
        String stat = "42 (a b) c) S 1 2 3 4 5 6 7 8 9 10 1234 567 18 19";
        assertThat(ProcessorTime.parse(stat)).isEqualTo(new ProcessorTime(12.34, 5.67));
    }

    @Test
    void thisProcessHasUsedSome() {
        ProcessorTime time = ProcessorTime.read();
        assertThat(time.userSeconds()).isPositive();
        assertThat(time.systemSeconds()).isNotNegative();
    }
}
