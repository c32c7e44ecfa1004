package io.varve.experiments.run.ycsb;

import java.util.HashMap;
import java.util.Map;

import io.varve.experiments.run.ycsb.BestDivision.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.WorkloadException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Tests the possible savings of a division, on a few keys. Confined to the test's thread. */
class BestDivisionTest {
    private static final int RECORDS = 2000;
    private static final int OPERATIONS = 60_000;
    private static final double LOCAL_SECONDS = 120e-6;
    private static final double REMOTE_SECONDS = 1000e-6;

    private static Map<String, String> properties(String... more) {
        Map<String, String> properties = new HashMap<>(Map.of("recordcount", String.valueOf(RECORDS), "operationcount",
                String.valueOf(OPERATIONS), "readproportion", "1", "updateproportion", "0", "requestdistribution",
                "zipfian", "varve.db.local.delay-us", "120", "varve.db.remote.delay-us", "1000"));
        for (int i = 0; i < more.length; i += 2) {
            properties.put(more[i], more[i + 1]);
        }
        return properties;
    }

    private static Result simulate(int keys, String... more) throws WorkloadException {
        return new BestDivision(properties(more), keys).simulate(_ -> true);
    }

    /** Each record is fetched once, half of them from each database, whatever is divided. */
    @Test
    void withMemoryForAllOnlyFirstRequestsWait() throws WorkloadException {
        Result result = simulate(2 * RECORDS);
        assertThat(result.undividedSeconds()).isCloseTo(RECORDS / 2.0 * (LOCAL_SECONDS + REMOTE_SECONDS),
                within(0.06 * RECORDS * REMOTE_SECONDS));
        assertThat(result.bestSeconds()).isCloseTo(result.undividedSeconds(), within(1e-6));
    }

    @Test
    void remoteKeysGetMoreAndClientsWaitLess() throws WorkloadException {
        Result result = simulate(RECORDS / 2);
        assertThat(result.bestSeconds()).isBetween(0.2 * result.undividedSeconds(), 0.7 * result.undividedSeconds());
        assertThat(result.remoteShare()).isBetween(0.75, 1.0);
    }

    @Test
    void nothingIsSavedWhereAllMissesCostTheSame() throws WorkloadException {
        Result result = simulate(RECORDS / 2, "varve.db.local.delay-us", "1000");
        assertThat(result.bestSeconds()).isCloseTo(result.undividedSeconds(),
                within(0.02 * result.undividedSeconds()));
        assertThat(result.remoteShare()).isBetween(0.4, 0.6);
    }

    /** The remote database's delay is twice as long from the first call on, and nothing is held. */
    @Test
    void theStressCounts() throws WorkloadException {
        double usual = simulate(1).undividedSeconds();
        double stressed = simulate(1, "varve.stress.after-operations", "0").undividedSeconds();
        assertThat(stressed / usual).isCloseTo((LOCAL_SECONDS + 2 * REMOTE_SECONDS) / (LOCAL_SECONDS + REMOTE_SECONDS),
                within(0.05));
        double late = simulate(1, "varve.stress.after-operations", String.valueOf(OPERATIONS / 2)).undividedSeconds();
        assertThat(late).isCloseTo((usual + stressed) / 2, within(0.05 * usual));
    }

    /** A write takes its record out of the cache, so that the next read waits. */
    @ParameterizedTest
    @ValueSource(strings = {"updateproportion", "readmodifywriteproportion"})
    void writtenItemIsFetched(String writes) throws WorkloadException {
        double reads = simulate(2 * RECORDS).undividedSeconds();
        double mixed = simulate(2 * RECORDS, "readproportion", "0.5", writes, "0.5").undividedSeconds();
        assertThat(mixed).isGreaterThan(3 * reads);
    }

    /** An inserted record is new, and is requested most often. */
    @Test
    void scansAreReadsAndInsertsAreNewKeys() throws WorkloadException {
        double reads = simulate(RECORDS).undividedSeconds();
        assertThat(simulate(RECORDS, "readproportion", "0", "scanproportion", "1").undividedSeconds()).isCloseTo(reads,
                within(0.1 * reads));
        assertThat(simulate(2 * RECORDS, "readproportion", "0.5", "insertproportion", "0.5", "requestdistribution",
                "latest").undividedSeconds()).isGreaterThan(2 * reads);
    }

    /** Nothing is held, so that clients wait for nearly each operation. */
    @Test
    void launcherEndsOnSignal() throws WorkloadException {
        double whole = simulate(1).undividedSeconds();
        Result part = new BestDivision(properties(), 1).simulate(done -> done < OPERATIONS / 2);
        assertThat(part.undividedSeconds()).isBetween(0.5 * whole, 0.6 * whole);
    }

    @Test
    void unsupportedWorkloadIsReported() {
        assertThat(BestDivision.isFor(properties())).isTrue();
        assertThat(BestDivision.isFor(properties("workload", "io.varve.ycsb.PausingWorkload"))).isFalse();
        assertThat(BestDivision.isFor(properties("scanproportion", "0.5"))).isFalse();
        assertThat(BestDivision.isFor(properties("scanproportion", "0.5", "varve.scan", "reads"))).isTrue();
        assertThat(BestDivision.isFor(properties("varve.stress.after-seconds", "5"))).isFalse();
        assertThat(BestDivision.isFor(properties("insertproportion", "0.5", "operationcount", "1000000000000")))
                .as("more keys than there is memory for").isFalse();
    }

    @Test
    void parse_invalidWorkload_isRefused() {
        assertThatThrownBy(() -> simulate(10, "workload", "no.such.Workload")).isInstanceOf(WorkloadException.class)
                .hasMessage("workload=no.such.Workload: expected a workload class of YCSB");
    }
}
