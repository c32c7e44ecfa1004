package io.varve.ycsb;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;

import io.varve.ycsb.option.Side;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests which records are requested, and when. Confined to the test's thread. */
class PausingWorkloadTest {

    private static final int OPERATIONS = 10_000;

    /** Records the sides of the requested records. Confined to the test's thread. */
    private static final class Noting extends DB {
        private final List<Side> requested = new ArrayList<>();

        @Override
        public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
            requested.add(Side.of(key));
            return Status.OK;
        }

        @Override
        public Status update(String table, String key, Map<String, ByteIterator> values) {
            requested.add(Side.of(key));
            return Status.OK;
        }

        @Override
        @SuppressWarnings("NonApiType") // The types are YCSB's.
        public Status scan(String table, String startKey, int count, @Nullable Set<String> fields,
                Vector<HashMap<String, ByteIterator>> result) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Status insert(String table, String key, Map<String, ByteIterator> values) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Status delete(String table, String key) {
            throw new UnsupportedOperationException();
        }

        private double remoteShare(int fromPercent, int toPercent) {
            List<Side> part = requested.subList(OPERATIONS / 100 * fromPercent, OPERATIONS / 100 * toPercent);
            return (double) part.stream().filter(side -> side == Side.REMOTE).count() / part.size();
        }
    }

    private static Properties properties(String distribution) {
        Properties properties = new Properties();
        properties.setProperty("recordcount", "1000");
        properties.setProperty("operationcount", String.valueOf(OPERATIONS));
        properties.setProperty("readproportion", "0.9");
        properties.setProperty("updateproportion", "0.1");
        properties.setProperty("insertproportion", "0");
        properties.setProperty("scanproportion", "0");
        properties.setProperty("requestdistribution", distribution);
        return properties;
    }

    private static Noting run(Properties properties) throws WorkloadException {
        Measurements.setProperties(properties);
        PausingWorkload workload = new PausingWorkload();
        workload.init(properties);
        Noting db = new Noting();
        for (int i = 0; i < OPERATIONS; i++) {
            assertThat(workload.doTransaction(db, new Object())).isTrue();
        }
        workload.cleanup();
        return db;
    }

    @ParameterizedTest
    @ValueSource(strings = {"zipfian", "uniform", "latest"})
    void theRemoteRecordsPauseAndThrashInTheEnd(String distribution) throws WorkloadException {
        Properties properties = properties(distribution);
        properties.setProperty(PausingWorkload.PAUSES, "20-30, 45-65");
        properties.setProperty(PausingWorkload.THRASH_FROM, "85");
        Noting db = run(properties);
        assertThat(db.requested).hasSize(OPERATIONS);
        for (int[] peak : new int[][] {{0, 20}, {30, 45}, {65, 85}}) {
            assertThat(db.remoteShare(peak[0], peak[1])).isBetween(0.2, 0.8);
        }
        assertThat(db.remoteShare(20, 30)).isZero();
        assertThat(db.remoteShare(45, 65)).isZero();
        for (int percent = 85; percent < 100; percent++) {
            assertThat(db.remoteShare(percent, percent + 1)).isEqualTo(percent % 2);
        }
    }

    @Test
    void withoutPausesItIsTheCoreWorkload() throws WorkloadException {
        Noting db = run(properties("uniform"));
        for (int percent = 0; percent < 100; percent += 10) {
            assertThat(db.remoteShare(percent, percent + 10)).isBetween(0.4, 0.6);
        }
    }

    @ParameterizedTest
    @CsvSource({"remotepauses, 30-20", "remotepauses, 20", "remotepauses, 20-101",
            "remotepauses, a-b", "remotethrashfrom, 101", "remotethrashfrom, x",
            "requestdistribution, exponential"})
    void invalidValueIsNamed(String property, String value) {
        Properties properties = properties("zipfian");
        properties.setProperty(property, value);
        assertThatThrownBy(() -> new PausingWorkload().init(properties)).isInstanceOf(WorkloadException.class)
                .hasMessageContaining(property + "=" + value).hasMessageContaining("expected");
    }
}
