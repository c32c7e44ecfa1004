package io.varve.experiments.run.ycsb;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.ycsb.VarveClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients with near caches read and write the same few records on a Varve with several event loops. Each record has one
 * writer, which counts its version up. No client may see a version go back, a writer must see its last one, and after
 * the last write all clients must see that one.
 */
@Timeout(120)
class NearCacheClientTest {
    private static final int CLIENTS = 4;
    private static final int RECORDS_PER_CLIENT = 3;
    private static final int RECORDS = CLIENTS * RECORDS_PER_CLIENT;
    private static final int OPERATIONS = 6_000;
    private static final int WRITES_OF_100 = 20;

    private VarveServer server;

    @BeforeEach
    void start() throws IOException {
        server = VarveServer.start(ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb")
                .with("io-threads", "3").validate());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"hash 100", "string 100", "hash 4"})
    void noClientSeesAVersionGoBack(String recordAndSize) throws Exception {
        String[] words = recordAndSize.split(" ");
        long seed = System.nanoTime();
        Phaser written = new Phaser(CLIENTS);
        AtomicInteger[] last = new AtomicInteger[RECORDS];
        for (int i = 0; i < RECORDS; i++) {
            last[i] = new AtomicInteger();
        }
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        try {
            List<Future<Void>> running = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                Callable<Void> client = () -> {
                    try {
                        new Reader(number, server.port(), words, seed + number, last).run(written);
                    } finally {
                        written.arriveAndDeregister();
                    }
                    return null;
                };
                running.add(threads.submit(client));
            }
            for (Future<Void> each : running) {
                try {
                    each.get();
                } catch (ExecutionException failed) {
                    throw new AssertionError("seed " + seed, failed.getCause());
                }
            }
        } finally {
            threads.shutdownNow();
            assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    /** One client on its own thread. Confined to it, except for the last versions. */
    private static final class Reader {
        private final int number;
        private final VarveClient client = new VarveClient();
        private final Random random;
        private final AtomicInteger[] last;
        private final int[] seen = new int[RECORDS];

        Reader(int number, int port, String[] recordAndSize, long seed, AtomicInteger[] last) throws DBException {
            this.number = number;
            this.random = new Random(seed);
            this.last = last;
            Properties properties = new Properties();
            properties.setProperty("varve.host", "127.0.0.1");
            properties.setProperty("varve.port", Integer.toString(port));
            properties.setProperty("varve.record", recordAndSize[0]);
            properties.setProperty("varve.near.cache", recordAndSize[1]);
            properties.setProperty("fieldcount", "1");
            client.setProperties(properties);
            client.init();
        }

        void run(Phaser written) throws DBException {
            for (int i = 0; i < RECORDS_PER_CLIENT; i++) {
                write(number * RECORDS_PER_CLIENT + i);
            }
            written.arriveAndAwaitAdvance();
            for (int i = 0; i < OPERATIONS; i++) {
                if (random.nextInt(100) < WRITES_OF_100) {
                    write(number * RECORDS_PER_CLIENT + random.nextInt(RECORDS_PER_CLIENT));
                } else {
                    read(random.nextInt(RECORDS));
                }
            }
            written.arriveAndAwaitAdvance();
            // Invalidations of the last writes precede this reply.
            assertThat(client.read("t", "absent", null, new HashMap<>())).isEqualTo(Status.NOT_FOUND);
            for (int i = 0; i < RECORDS; i++) {
                assertThat(read(i)).as("the last version of record %d", i).isEqualTo(last[i].get());
            }
            client.cleanup();
        }

        private void write(int record) {
            int version = last[record].get() + 1;
            Map<String, ByteIterator> values = new HashMap<>(
                    Map.of("field0", new StringByteIterator(Integer.toString(version))));
            assertThat(client.update("t", "user" + record, values)).isEqualTo(Status.OK);
            last[record].set(version);
            assertThat(read(record)).as("the version that this client wrote").isEqualTo(version);
        }

        private int read(int record) {
            Map<String, ByteIterator> result = new HashMap<>();
            assertThat(client.read("t", "user" + record, null, result)).isEqualTo(Status.OK);
            int version = Integer.parseInt(String.valueOf(result.get("field0")));
            assertThat(version).as("a version of record %d", record).isGreaterThanOrEqualTo(seen[record]);
            seen[record] = version;
            return version;
        }
    }
}
