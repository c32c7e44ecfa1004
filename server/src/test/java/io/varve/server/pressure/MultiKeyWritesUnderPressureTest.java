package io.varve.server.pressure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * MSET and MSETNX in a full cache set all of their keys or none, in a transaction too. Confined to the test's thread,
 * but for one test.
 */
@Timeout(120)
class MultiKeyWritesUnderPressureTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final String VALUE = "0123456789".repeat(600_000);

    private static VarveServer start(String policy, int loops) throws IOException {
        return servers.start("io-threads " + loops, "shards 8", "maxmemory 16mb", "maxmemory-policy " + policy);
    }

    private static void fill(RawClient client) throws IOException {
        String filler = VALUE.substring(0, 900);
        int pipeline = 1000;
        for (int i = 0; i < 20_000; i += pipeline) {
            for (int j = i; j < i + pipeline; j++) {
                client.queue("SET", "filler" + j, filler);
            }
            client.flush();
            for (int j = 0; j < pipeline; j++) {
                assertThat(client.read().text()).isEqualTo("OK");
            }
        }
    }

    private static String[] setAll(String command, String prefix, int keys, int length) {
        List<String> words = new ArrayList<>(List.of(command));
        for (int i = 0; i < keys; i++) {
            words.add(prefix + i);
            words.add(VALUE.substring(0, length));
        }
        return words.toArray(String[]::new);
    }

    private static int present(RawClient client, String prefix, int keys) throws IOException {
        for (int i = 0; i < keys; i++) {
            client.queue("EXISTS", prefix + i);
        }
        client.flush();
        int present = 0;
        for (int i = 0; i < keys; i++) {
            present += (int) client.read().integer();
        }
        return present;
    }

    /** By their arguments they fit, but some lengths leave a fifth of each segment unused, or half of a page. */
    @ParameterizedTest
    @CsvSource({"2750, 1090", "3290, 303", "3290, 911", "3500, 857", "4090, 244", "4090, 733"})
    void keysOfAllLengthsAreSet(int length, int keys) throws IOException {
        try (VarveServer server = start("allkeys-lru", 1); RawClient client = new RawClient(server.port())) {
            fill(client);
            assertThat(client.call(setAll("MSET", "name", keys, length)).text()).isEqualTo("OK");
            assertThat(client.call(setAll("MSETNX", "new", keys, length)).integer()).isOne();
            // Maintenance may evict some of them as soon as the command has ended.
            List<String> exists = new ArrayList<>(List.of("EXISTS"));
            for (int i = 0; i < keys; i++) {
                exists.add("more" + i);
            }
            client.call("MULTI");
            client.call(setAll("MSET", "more", keys, length));
            client.call(exists.toArray(String[]::new));
            assertThat(client.call("EXEC").elements().get(1).integer()).isEqualTo(keys);
        }
    }

    /** A command in front of it took the memory that was made for both: the copy is not known by its arguments. */
    @ParameterizedTest
    @CsvSource({"3290, 911, 5000000", "3290, 911, 5200000", "3500, 857, 5200000", "3500, 850, 6000000",
            "4090, 733, 4400000", "4090, 733, 5200000"})
    void behindACopyAllOrNoneAreSet(int length, int keys, int copied) throws IOException {
        for (String command : List.of("MSET", "MSETNX")) {
            try (VarveServer server = start("noeviction", 1); RawClient client = new RawClient(server.port())) {
                assertThat(client.call("SET", "k", VALUE.substring(0, copied)).text()).isEqualTo("OK");
                client.call("MULTI");
                client.call("COPY", "k", "d");
                assertThat(client.call(setAll(command, "name", keys, length)).text()).isEqualTo("QUEUED");
                List<RawReply> replies = client.call("EXEC").elements();
                assertThat(replies.get(0).integer()).isOne();
                boolean refused = replies.get(1).text().startsWith("OOM");
                assertThat(present(client, "name", keys)).as("%s refused: %s", command, refused)
                        .isEqualTo(refused ? 0 : keys);
                assertThat(client.call("STRLEN", "d").integer()).isEqualTo(copied);
                assertThat(client.infoLong("used_memory")).isLessThan(20L << 20);
            }
        }
    }

    /** Each of them needs memory that the others use meanwhile. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void severalClientsAtATimeAreNotRefused(boolean transaction) throws Exception {
        int clients = 4;
        try (VarveServer server = start("allkeys-lru", 2);
                RawClient first = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(clients)) {
            fill(first);
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                String prefix = "client" + i + "-";
                tasks.add(() -> refusals(server.port(), prefix, transaction));
            }
            for (Future<Integer> refusals : threads.invokeAll(tasks)) {
                assertThat(refusals.get()).isZero();
            }
        }
    }

    private static int refusals(int port, String prefix, boolean transaction) throws IOException {
        int refusals = 0;
        try (RawClient client = new RawClient(port)) {
            for (int round = 0; round < 60; round++) {
                String[] command = setAll("MSET", prefix + round + "-", 1000, 900);
                if (transaction) {
                    client.call("MULTI");
                    client.call(command);
                    RawReply executed = client.call("EXEC");
                    refusals += executed.isError() || executed.elements().getFirst().isError() ? 1 : 0;
                } else {
                    refusals += client.call(command).isError() ? 1 : 0;
                }
            }
        }
        return refusals;
    }

    /** It needs memory for a copy although it changes nothing. */
    @ParameterizedTest
    @ValueSource(ints = {1_000_000, 2_500_000, 3_500_000, 4_000_000})
    void readOnlyTransactionsReclaimMemory(int length) throws IOException {
        try (VarveServer server = start("allkeys-lru", 1); RawClient client = new RawClient(server.port())) {
            fill(client);
            client.call("SET", "k", VALUE.substring(0, length));
            client.call("MULTI");
            client.call("DUMP", "k");
            RawReply dumped = client.call("EXEC").elements().getFirst();
            assertThat(dumped.text()).hasSizeGreaterThan(1000).doesNotStartWith("OOM");
            client.call("STRLEN", "k");
            assertThat(client.call("STRLEN", "k").integer()).isEqualTo(length);
        }
    }

    /** Other event loops use the memory reclaimed for EXEC, and indexes grow meanwhile. */
    @Test
    void msetInATransactionEvictsOthers() throws Exception {
        try (VarveServer server = start("allkeys-lru", 2)) {
            Thread writer = Thread.ofPlatform().start(() -> {
                try (RawClient other = new RawClient(server.port())) {
                    for (int i = 0; i < 60_000; i++) {
                        assertThat(other.call("SET", "filler" + i, VALUE.substring(0, 300)).text()).isEqualTo("OK");
                    }
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            });
            try (RawClient client = new RawClient(server.port())) {
                for (int i = 0; writer.isAlive(); i++) {
                    client.call("MULTI");
                    client.call("MSET", "a" + i, VALUE.substring(0, 300), "b" + i, VALUE.substring(0, 300));
                    assertThat(client.call("EXEC").elements().getFirst().text()).as("transaction %s", i)
                            .isEqualTo("OK");
                }
            }
            writer.join();
        }
    }
}
