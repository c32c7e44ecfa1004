package io.varve.server.persistence;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests when a snapshot is due. Confined to the test's thread. */
class SaveRulesTest {
    @Test
    void withoutRules_nothingIsDue() {
        for (String none : new String[] {"", "  "}) {
            SaveRules rules = SaveRules.of(none);
            assertThat(rules.any()).isFalse();
            assertThat(rules.isDue(Long.MAX_VALUE, Long.MAX_VALUE)).isFalse();
        }
    }

    /** As in Redis, more than so many seconds must have passed, and at least so many changes been made. */
    @ParameterizedTest
    @CsvSource({"3600, 1, false", "3601, 1, true", "3601, 0, false", "300, 100, false", "301, 99, false",
            "301, 100, true", "60, 10000, false", "61, 9999, false", "61, 10000, true", "0, 1000000, false"})
    void anyRule_makesASnapshotDue(long seconds, long changes, boolean isDue) {
        SaveRules rules = SaveRules.of(" 3600 1  300 100 60 10000 ");
        assertThat(rules.any()).isTrue();
        assertThat(rules.isDue(seconds, changes)).isEqualTo(isDue);
    }
}
