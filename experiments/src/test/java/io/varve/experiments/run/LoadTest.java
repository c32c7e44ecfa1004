package io.varve.experiments.run;

import java.util.Map;

import io.varve.experiments.plan.ByteSizes;
import io.varve.experiments.run.context.Durations;
import io.varve.experiments.run.expiry.ExpiryLedger;
import io.varve.experiments.run.ycsb.YcsbOutput;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The ledger of expiry times, YCSB's output, sizes and durations. Confined to the test's thread. */
final class LoadTest {
    @Test
    void theLedgerCountsTheLivingAndTheJustExpired() {
        ExpiryLedger ledger = new ExpiryLedger(3, 1000, 100);
        ledger.put(0, 1010);
        ledger.put(1, 1020);
        ledger.put(2, 1030);
        assertThat(ledger.aliveAt(1009)).isEqualTo(3);
        assertThat(ledger.aliveAt(1010)).as("an item is expired once its time is reached").isEqualTo(2);
        assertThat(ledger.expiredWithin(1020, 10)).isEqualTo(1);
        assertThat(ledger.expiredWithin(1020, 11)).isEqualTo(2);
        ledger.put(0, 1090);
        assertThat(ledger.aliveAt(1050)).isEqualTo(1);
        assertThat(ledger.lastExpiryMillis()).isEqualTo(1090);
        assertThatThrownBy(() -> ledger.put(0, 1100)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void ycsbIsJudgedByItsReturns() {
        YcsbOutput output = new YcsbOutput();
        assertThat(
                output.add("2026-11-21 07:35:30:596 4 sec: 342 operations; 297.94 current ops/sec; est completion in "
                        + "11 minutes [INSERT: Count=303, Max=114431]"))
                .isTrue();
        assertThat(output.operations()).isEqualTo(342);
        assertThat(output.currentRate()).isEqualTo(297.94);
        assertThat(output.add("[OVERALL], Throughput(ops/sec), 945.4826")).isFalse();
        output.add("[READ], Return=OK, 10");
        output.add("[READ], Return=NOT_FOUND, 5");
        assertThat(output.badReturns()).isEmpty();
        output.add("[UPDATE], Return=ERROR, 2");
        output.add("[UPDATE], Return=NOT_FOUND, 1");
        assertThat(output.badReturns()).isEqualTo(Map.of("UPDATE=ERROR", 2L, "UPDATE=NOT_FOUND", 1L));
        assertThat(output.number("OVERALL Throughput(ops/sec)")).isEqualTo(945.4826);
        assertThat(output.number("OVERALL RunTime(ms)")).isNaN();
    }

    @Test
    void sizesAreRedisConfs() {
        assertThat(ByteSizes.parse("300mb")).isEqualTo(300L << 20);
        assertThat(ByteSizes.parse("1GB")).isEqualTo(1L << 30);
        assertThat(ByteSizes.parse("1k")).isEqualTo(1000);
        assertThat(ByteSizes.parse("77")).isEqualTo(77);
        assertThatThrownBy(() -> ByteSizes.parse("much")).hasMessageContaining("much");
    }

    @Test
    void durationsInWords() {
        assertThat(Durations.words(66)).isEqualTo("66 s");
        assertThat(Durations.words(55 * 60)).isEqualTo("55 min");
        assertThat(Durations.words(3 * 3600 + 20 * 60)).isEqualTo("3 h 20 min");
        assertThat(Durations.words(4 * 86400 + 7200)).isEqualTo("4 d 2 h");
        assertThat(Durations.clock(65)).isEqualTo("1:05");
    }
}
