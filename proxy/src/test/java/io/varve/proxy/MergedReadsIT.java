package io.varve.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.testing.RegisterHistory;
import io.varve.proxy.testing.TestProxy;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads that share answers stay linearizable for each key while others write. Many clients; each is confined to its
 * thread.
 */
class MergedReadsIT {
    private static final int READERS = 10;
    private static final int WRITERS = 2;
    private static final int KEYS = 3;
    private static final int PIPELINE = 3;

    private final List<ConcurrentLinkedQueue<Operation>> histories = new ArrayList<>();
    private final AtomicInteger values = new AtomicInteger();

    private record Operation(boolean isWrite, String value, long invoked, long responded) {}

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void historiesOfHotKeys_areLinearizable(int windowMillis) throws Exception {
        int operations = TestBudget.ofInt("varve.proxy.operations", 2_000, 50_000);
        long seed = TestBudget.seed("varve.proxy.seed");
        try (TestProxy proxy = TestProxy.overServers(2, "--merge-window-ms", Integer.toString(windowMillis))) {
            for (int key = 0; key < KEYS; key++) {
                histories.add(new ConcurrentLinkedQueue<>());
                try (BlockingConnection client = proxy.connect()) {
                    write(client, key);
                }
            }
            List<Thread> clients = new ArrayList<>();
            ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            for (int i = 0; i < READERS + WRITERS; i++) {
                boolean isWriter = i < WRITERS;
                Random random = new Random(seed + i);
                clients.add(Thread.ofPlatform().start(() -> {
                    try (BlockingConnection client = proxy.connect()) {
                        run(client, random, isWriter, isWriter ? operations / 10 : operations / PIPELINE);
                    } catch (IOException | RuntimeException failed) {
                        failures.add(failed);
                    }
                }));
            }
            for (Thread client : clients) {
                client.join(TimeUnit.MINUTES.toMillis(2));
            }
            assertThat(failures).isEmpty();
            for (ConcurrentLinkedQueue<Operation> operationsOfKey : histories) {
                assertThat(problems(operationsOfKey)).isEmpty();
            }
            assertThat(proxy.info("merged_reads")).isPositive();
        }
    }

    private void run(BlockingConnection client, Random random, boolean isWriter, int rounds) throws IOException {
        for (int i = 0; i < rounds; i++) {
            int key = random.nextInt(KEYS);
            if (isWriter && random.nextBoolean()) {
                write(client, key);
            } else {
                readPipelined(client, key);
            }
        }
    }

    private void write(BlockingConnection client, int key) throws IOException {
        String value = "value" + values.incrementAndGet();
        long invoked = System.nanoTime();
        client.send("SET", "hot" + key, value);
        // A pipelined read of the writer must see the write.
        client.send("GET", "hot" + key);
        assertThat(client.read().text()).isEqualTo("OK");
        long written = System.nanoTime();
        histories.get(key).add(new Operation(true, value, invoked, written));
        String seen = client.read().textOrEmpty();
        histories.get(key).add(new Operation(false, seen, invoked, System.nanoTime()));
    }

    private void readPipelined(BlockingConnection client, int key) throws IOException {
        long[] invoked = new long[PIPELINE];
        for (int i = 0; i < PIPELINE; i++) {
            invoked[i] = System.nanoTime();
            client.send("GET", "hot" + key);
        }
        for (int i = 0; i < PIPELINE; i++) {
            String value = client.read().textOrEmpty();
            histories.get(key).add(new Operation(false, value, invoked[i], System.nanoTime()));
        }
    }

    private static List<String> problems(Iterable<Operation> operations) {
        RegisterHistory history = new RegisterHistory();
        for (Operation operation : operations) {
            if (operation.isWrite()) {
                history.write(operation.value(), operation.invoked(), operation.responded());
            } else {
                history.read(operation.value(), operation.invoked(), operation.responded());
            }
        }
        return history.problems();
    }
}
