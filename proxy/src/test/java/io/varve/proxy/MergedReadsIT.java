package io.varve.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.testing.RedisMember;
import io.varve.proxy.testing.SlowRelay;
import io.varve.proxy.testing.TestProxy;
import io.varve.testing.RegisterHistory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads that share answers stay linearizable for each key while others write, over a slow network. Many clients; each
 * is confined to its thread.
 */
class MergedReadsIT {
    private static final int READERS = 10;
    private static final int WRITERS = 2;
    private static final int KEYS = 2;
    private static final int PIPELINE = 2;
    /** Readers pause for a random time, so that they begin while reads of others are in flight. */
    private static final int MAX_PAUSE_MICROS = 2_000;

    private final List<ConcurrentLinkedQueue<Operation>> histories = new ArrayList<>();
    private final AtomicInteger values = new AtomicInteger();

    private record Operation(boolean isWrite, String value, long invoked, long responded) {}

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void historiesOfHotKeys_areLinearizable(int windowMillis) throws Exception {
        int operations = TestBudget.ofInt("varve.proxy.operations", 500, 20_000);
        long seed = TestBudget.seed("varve.proxy.seed");
        RedisMember member = RedisMember.start();
        try (SlowRelay relay = new SlowRelay(member, seed);
                TestProxy proxy = TestProxy.at(relay.address(), List.of(member), "--merge-window-ms",
                        Integer.toString(windowMillis))) {
            for (int key = 0; key < KEYS; key++) {
                histories.add(new ConcurrentLinkedQueue<>());
                try (BlockingConnection client = proxy.connect()) {
                    write(client, key);
                }
            }
            List<Thread> clients = new ArrayList<>();
            ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            for (int i = 0; i < READERS + WRITERS; i++) {
                int writer = i < WRITERS ? i : -1;
                Random random = new Random(seed + i);
                clients.add(Thread.ofPlatform().start(() -> {
                    try (BlockingConnection client = proxy.connect()) {
                        run(client, random, writer, operations);
                    } catch (IOException | RuntimeException | AssertionError failed) {
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

    /** @param writer the number of a writer, which is the number of the key that only it writes; -1 for a reader */
    private void run(BlockingConnection client, Random random, int writer, int rounds) throws IOException {
        for (int i = 0; i < rounds; i++) {
            if (writer >= 0) {
                write(client, writer);
            } else {
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(MAX_PAUSE_MICROS)));
                readPipelined(client, random.nextInt(KEYS));
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
        assertThat(client.read().text()).as("the read after its own write").isEqualTo(value);
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
