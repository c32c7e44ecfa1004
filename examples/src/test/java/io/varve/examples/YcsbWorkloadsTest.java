package io.varve.examples;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;

import io.varve.server.VarveServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs the six workloads of YCSB on records in the format of its Redis binding. Confined to the test's thread. */
class YcsbWorkloadsTest {
    private static final int RECORDS = 1_000;
    private static final int OPERATIONS = 1_000;
    private static final int FIELDS = 10;
    private static final int FIELD_BYTES = 100;

    private enum Operation {
        READ, SCAN, UPDATE, INSERT, DELETE
    }

    @ParameterizedTest
    @CsvSource({"a, 0.5, 0.5, 0, 0, 0, zipfian", "b, 0.95, 0.05, 0, 0, 0, zipfian", "c, 1, 0, 0, 0, 0, zipfian",
            "d, 0.95, 0, 0.05, 0, 0, latest", "e, 0, 0, 0.05, 0.95, 0, zipfian", "f, 0.5, 0, 0, 0, 0.5, zipfian"})
    void everyOperationFindsItsRecord(String name, double reads, double updates, double inserts, double scans,
            double readModifyWrites, String distribution) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("recordcount", Integer.toString(RECORDS));
        properties.setProperty("operationcount", Integer.toString(OPERATIONS));
        properties.setProperty("readproportion", Double.toString(reads));
        properties.setProperty("updateproportion", Double.toString(updates));
        properties.setProperty("insertproportion", Double.toString(inserts));
        properties.setProperty("scanproportion", Double.toString(scans));
        properties.setProperty("readmodifywriteproportion", Double.toString(readModifyWrites));
        properties.setProperty("requestdistribution", distribution);
        properties.setProperty("maxscanlength", "20");
        Measurements.setProperties(properties);
        CoreWorkload workload = new CoreWorkload();
        workload.init(properties);
        try (VarveServer varve = Varve.start(); Jedis redis = new Jedis(Varve.HOST, varve.port())) {
            Checked records = new Checked(new IndexedRecords(redis));
            for (int i = 0; i < RECORDS; i++) {
                assertThat(workload.doInsert(records, null)).isTrue();
            }
            assertThat(redis.zcard(IndexedRecords.INDEX)).isEqualTo(RECORDS);
            for (int i = 0; i < OPERATIONS; i++) {
                assertThat(workload.doTransaction(records, null)).isTrue();
            }
            records.requireShare(Operation.READ, reads + readModifyWrites);
            records.requireShare(Operation.UPDATE, updates + readModifyWrites);
            records.requireShare(Operation.SCAN, scans);
            assertThat(redis.zcard(IndexedRecords.INDEX)).as("workload %s", name)
                    .isEqualTo(records.count(Operation.INSERT));
            assertThat(redis.dbSize()).isEqualTo(records.count(Operation.INSERT) + 1L);
            for (String key : redis.zrange(IndexedRecords.INDEX, 0, -1)) {
                assertThat(records.delete("", key).isOk()).isTrue();
            }
            assertThat(redis.dbSize()).isZero();
        } finally {
            workload.cleanup();
        }
    }

    /** Counts the operations and checks each answer. Confined to one thread. */
    private static final class Checked extends DB {
        private final DB records;
        private final Map<Operation, Integer> counts = new EnumMap<>(Operation.class);

        Checked(DB records) {
            this.records = records;
        }

        int count(Operation operation) {
            return counts.getOrDefault(operation, 0);
        }

        void requireShare(Operation operation, double share) {
            assertThat((double) count(operation)).as("%s", operation)
                    .isBetween((share - 0.1) * OPERATIONS, (share + 0.1) * OPERATIONS);
        }

        private Status counted(Operation operation, Status status) {
            assertThat(status.isOk()).as("%s", operation).isTrue();
            counts.merge(operation, 1, Integer::sum);
            return status;
        }

        @Override
        public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
            Status status = counted(Operation.READ, records.read(table, key, fields, result));
            requireWhole(result);
            return status;
        }

        @Override
        @SuppressWarnings({"JdkObsolete", "NonApiType"}) // as YCSB declares it
        public Status scan(String table, String start, int count, @Nullable Set<String> fields,
                Vector<HashMap<String, ByteIterator>> result) {
            Status status = counted(Operation.SCAN, records.scan(table, start, count, fields, result));
            assertThat(result).hasSizeBetween(1, count).allSatisfy(Checked::requireWhole);
            return status;
        }

        @Override
        public Status update(String table, String key, Map<String, ByteIterator> values) {
            return counted(Operation.UPDATE, records.update(table, key, values));
        }

        @Override
        public Status insert(String table, String key, Map<String, ByteIterator> values) {
            return counted(Operation.INSERT, records.insert(table, key, values));
        }

        @Override
        public Status delete(String table, String key) {
            return counted(Operation.DELETE, records.delete(table, key));
        }

        private static void requireWhole(Map<String, ByteIterator> record) {
            assertThat(record).hasSize(FIELDS);
            assertThat(record.values()).allSatisfy(value -> assertThat(value.bytesLeft()).isEqualTo(FIELD_BYTES));
        }
    }
}
