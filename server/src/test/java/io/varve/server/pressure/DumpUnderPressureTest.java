package io.varve.server.pressure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests SORT, DUMP and RESTORE in full memory, with evictable keys and without. Confined to the test's thread. */
@Timeout(120)
class DumpUnderPressureTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int ELEMENTS = 4000;
    private static final int FILLERS = 4000;
    private static final String PIECE = "p".repeat(4000);
    private static final String OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";

    private static VarveServer start(String policy) throws IOException {
        return servers.start("io-threads 1", "maxmemory 12mb", "shards 2", "maxmemory-policy " + policy);
    }

    private static void push(RawClient client) throws IOException {
        for (int from = 0; from < ELEMENTS; from += 500) {
            List<String> words = new ArrayList<>(List.of("RPUSH", "l"));
            for (int i = from; i < from + 500; i++) {
                words.add(i * 7919 % ELEMENTS + "." + "0".repeat(100));
            }
            assertThat(client.call(words.toArray(String[]::new)).isInteger()).isTrue();
        }
    }

    /** More items than fit. */
    private static void fill(RawClient client) throws IOException {
        for (int from = 0; from < FILLERS; from += 100) {
            for (int i = from; i < from + 100; i++) {
                client.queue("SET", "filler" + i, PIECE, "EX", "100000");
            }
            client.flush();
            for (int i = from; i < from + 100; i++) {
                assertThat(client.read().text()).isIn("OK", OUT_OF_MEMORY);
            }
        }
    }

    @Test
    void memoryIsReclaimedByEviction() throws IOException {
        try (VarveServer server = start("volatile-random"); RawClient client = new RawClient(server.port())) {
            push(client);
            for (int round = 0; round < 6; round++) {
                fill(client);
                assertThat(client.call("SORT", "l", "LIMIT", "0", "1").elements().getFirst().text()).startsWith("0.0");
                fill(client);
                assertThat(client.call("SORT", "l", "STORE", "d").text()).isEqualTo(Integer.toString(ELEMENTS));
                fill(client);
                String payload = client.call("DUMP", "l").text();
                fill(client);
                assertThat(client.call("RESTORE", "d", "0", payload, "REPLACE").text()).isEqualTo("OK");
                assertThat(client.call("LLEN", "d").integer()).isEqualTo(ELEMENTS);
            }
        }
    }

    /** A payload is as long as its string and a little more: memory is reclaimed for it at once. */
    @Test
    void aLongStringIsDumpedByEvictingOthers() throws IOException {
        try (VarveServer server = start("volatile-random"); RawClient client = new RawClient(server.port())) {
            String value = "s".repeat(1_500_000);
            assertThat(client.call("SET", "s", value).text()).isEqualTo("OK");
            for (int round = 0; round < 3; round++) {
                fill(client);
                String payload = client.call("DUMP", "s").text();
                assertThat(payload).contains(value);
                assertThat(client.call("RESTORE", "copy", "0", payload, "REPLACE").text()).isEqualTo("OK");
                assertThat(client.call("STRLEN", "copy").integer()).isEqualTo(value.length());
                client.call("DEL", "copy");
            }
        }
    }

    private static void makeStream(RawClient client) throws IOException {
        for (int i = 1; i <= ELEMENTS; i++) {
            client.call("XADD", "s", i + "-1", "f", "0".repeat(100));
        }
        client.call("XGROUP", "CREATE", "s", "g", "0");
        client.call("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">");
    }

    @Test
    void aStreamIsRestoredByEvictingOthers() throws IOException {
        try (VarveServer server = start("volatile-random"); RawClient client = new RawClient(server.port())) {
            makeStream(client);
            for (int round = 0; round < 3; round++) {
                fill(client);
                String payload = client.call("DUMP", "s").text();
                fill(client);
                assertThat(client.call("RESTORE", "copy", "0", payload, "REPLACE").text()).isEqualTo("OK");
                assertThat(client.call("DUMP", "copy").text()).isEqualTo(payload);
                fill(client);
                assertThat(client.call("COPY", "s", "copy", "REPLACE").integer()).isEqualTo(1);
                assertThat(client.call("XPENDING", "copy", "g").elements().getFirst().integer()).isEqualTo(ELEMENTS);
            }
        }
    }

    @Test
    void aRefusedStreamLeavesTheKeyUnchanged() throws IOException {
        try (VarveServer server = start("noeviction"); RawClient client = new RawClient(server.port())) {
            makeStream(client);
            String payload = client.call("DUMP", "s").text();
            assertThat(client.call("SET", "d", "value").text()).isEqualTo("OK");
            fill(client);
            assertThat(client.call("RESTORE", "d", "0", payload, "REPLACE").text()).isEqualTo(OUT_OF_MEMORY);
            assertThat(client.call("RESTORE", "none", "0", payload).text()).isEqualTo(OUT_OF_MEMORY);
            assertThat(client.call("COPY", "s", "d", "REPLACE").text()).isEqualTo(OUT_OF_MEMORY);
            assertThat(client.call("GET", "d").text()).isEqualTo("value");
            assertThat(client.call("EXISTS", "none").integer()).isZero();
            assertThat(client.call("XLEN", "s").integer()).isEqualTo(ELEMENTS);
        }
    }

    @Test
    void aRefusedRestoreLeavesTheKeyUnchanged() throws IOException {
        try (VarveServer server = start("noeviction"); RawClient client = new RawClient(server.port())) {
            push(client);
            String payload = client.call("DUMP", "l").text();
            assertThat(client.call("SET", "d", "value").text()).isEqualTo("OK");
            fill(client);
            assertThat(client.call("RESTORE", "d", "0", payload, "REPLACE").text()).isEqualTo(OUT_OF_MEMORY);
            assertThat(client.call("RESTORE", "none", "0", payload).text()).isEqualTo(OUT_OF_MEMORY);
            assertThat(client.call("SORT", "l", "STORE", "d").text()).isEqualTo(OUT_OF_MEMORY);
            assertThat(client.call("GET", "d").text()).isEqualTo("value");
            assertThat(client.call("EXISTS", "none").integer()).isZero();
            assertThat(client.call("LLEN", "l").integer()).isEqualTo(ELEMENTS);
        }
    }
}
