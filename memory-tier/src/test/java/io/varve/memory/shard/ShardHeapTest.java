package io.varve.memory.shard;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import io.varve.memory.Cache;
import io.varve.memory.collection.HashTree;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.locality.partition.ClassCounts;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the heap that a shard takes before it has a key, by histograms of the live objects. */
final class ShardHeapTest {
    private static final int SHARDS = 1024;
    /** 2.7 KB with compact object headers, 3.1 KB without, and a tenth for objects that the test itself creates. */
    private static final long MAX_BYTES_PER_SHARD = 3450;

    private final CacheConfig config = CacheConfig.defaults(1L << 30).withShards(SHARDS)
            .withSegmentSizeBytes(64 << 10).withHashSeed(7);

    @Test
    void anEmptyShardTakesLittleHeap() throws JMException {
        loadClasses();
        Histogram before = Histogram.take();
        try (Cache cache = Cache.open(config)) {
            Histogram open = Histogram.take();
            assertThat(cache.shardCount()).isEqualTo(SHARDS);
            assertThat(open.objectsOf(Shard.class) - before.objectsOf(Shard.class)).isEqualTo(SHARDS);
            assertThat(open.objectsOf(HashTree.class)).as("trees for field times")
                    .isEqualTo(before.objectsOf(HashTree.class));
            assertThat(open.objectsOf(ClassCounts.class)).as("class counts")
                    .isEqualTo(before.objectsOf(ClassCounts.class));
            assertThat((open.bytes - before.bytes) / SHARDS).as("bytes per shard").isBetween(1L, MAX_BYTES_PER_SHARD);
        }
    }

    /** In a method of its own, whose variables keep nothing alive later. */
    private void loadClasses() {
        try (CacheFixture fixture = new CacheFixture(Cache.open(config))) {
            fixture.set(0, CacheFixture.bytes("key"), CacheFixture.bytes("value"), Item.NEVER);
        }
    }

    /** The live objects of the JVM. Immutable. */
    private static final class Histogram {
        private static final int COLUMNS = 4;

        private final Map<String, Long> objects = new HashMap<>();
        private final long bytes;

        private Histogram(String report) {
            long sum = 0;
            for (String line : report.split("\n")) {
                // The rank, the number of objects, their bytes, the class.
                String[] columns = line.strip().split("\\s+");
                if (columns.length >= COLUMNS && columns[0].matches("\\d+:")) {
                    objects.put(columns[COLUMNS - 1], Long.parseLong(columns[1]));
                    sum += Long.parseLong(columns[2]);
                }
            }
            bytes = sum;
        }

        static Histogram take() throws JMException {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName commands = ObjectName.getInstance("com.sun.management:type=DiagnosticCommand");
            return new Histogram((String) server.invoke(commands, "gcClassHistogram", new Object[] {new String[0]},
                    new String[] {String[].class.getName()}));
        }

        long objectsOf(Class<?> type) {
            return objects.getOrDefault(type.getName(), 0L);
        }
    }
}
