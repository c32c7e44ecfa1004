package io.varve.server.pressure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests commands with a million keys, in a server with the launcher's default heap. Confined to the test's thread. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ManyArgumentsIT {
    private static final int MILLION = 1_000_000;
    private static final String HEAP_USED_UP = "OOM the heap budget for arguments and keys of requests is used up: send"
            + " fewer of them in one request";

    private final List<byte[]> names = IntStream.range(0, MILLION).mapToObj(i -> bytes("key:" + i)).toList();
    private final ServerProcess server = start();

    ManyArgumentsIT() throws IOException {}

    @AfterAll
    void stop() throws IOException {
        server.close();
    }

    @BeforeEach
    void reset() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.call("FLUSHALL").text()).isEqualTo("OK");
            assertThat(client.call("CONFIG", "RESETSTAT").text()).isEqualTo("OK");
        }
    }

    private static ServerProcess start() throws IOException {
        return ServerProcess.start("--maxmemory", "1gb");
    }

    private static List<byte[]> command(String name, String... more) {
        List<byte[]> words = new ArrayList<>(MILLION + 4);
        words.add(bytes(name));
        for (String word : more) {
            words.add(bytes(word));
        }
        return words;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    private List<byte[]> withNames(String name, String... more) {
        List<byte[]> words = command(name, more);
        words.addAll(names);
        return words;
    }

    @Test
    void aMillionNamesOfAnEmptyServerAreNotThere() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            for (String name : List.of("DEL", "UNLINK", "EXISTS", "TOUCH")) {
                assertThat(client.call(withNames(name)).toString()).as(name).isEqualTo(":\"0\"");
            }
            assertThat(client.call(withNames("MGET")).elements()).hasSize(MILLION).allMatch(RawReply::isNull);
        }
    }

    @Test
    void aMillionPairsAreSetReadAndDeleted() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            List<byte[]> pairs = command("MSET");
            for (int i = 0; i < MILLION; i++) {
                pairs.add(bytes("key:" + i));
                pairs.add(bytes("value:" + i));
            }
            assertThat(client.call(pairs).text()).isEqualTo("OK");
            assertThat(client.call("DBSIZE").integer()).isEqualTo(MILLION);
            pairs.set(0, bytes("MSETNX"));
            assertThat(client.call(pairs).integer()).isZero();
            List<RawReply> values = client.call(withNames("MGET")).elements();
            for (int i = 0; i < MILLION; i++) {
                String value = values.get(i).text();
                if (!value.equals("value:" + i)) {
                    assertThat(value).isEqualTo("value:" + i);
                }
            }
            assertThat(client.call(withNames("EXISTS")).integer()).isEqualTo(MILLION);
            assertThat(client.call(withNames("DEL")).integer()).isEqualTo(MILLION);
            assertThat(client.call("DBSIZE").integer()).isZero();
            assertThat(client.call(pairs).integer()).isOne();
        }
    }

    /** The names are bound before SELECT has run, and belong to the database that it selects. */
    @Test
    void aSelectBeforeThemIsRespected() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            client.queue("SELECT", "1");
            client.queue("SET", "key:7", "v");
            client.write(withNames("EXISTS"));
            client.queue("SELECT", "0");
            client.write(withNames("EXISTS"));
            client.flush();
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().integer()).isOne();
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().integer()).isZero();
        }
    }

    /** If the heap is the limit, the error names it, and the connection stays. */
    @Test
    void argumentsBeyondTheHeapBudgetAreRefused() throws IOException {
        try (ServerProcess own = start(); RawClient client = new RawClient(own.port())) {
            List<List<byte[]>> giants = List.of(withNames("SUNION"), withNames("SINTERCARD", Integer.toString(MILLION)),
                    withNames("BLPOP"), withNames("WATCH"), withNames("PFCOUNT"), repeated(withNames("SADD", "s"), 4));
            for (List<byte[]> giant : giants) {
                String name = new String(giant.getFirst(), java.nio.charset.StandardCharsets.ISO_8859_1);
                if (name.toLowerCase(Locale.ROOT).equals("blpop")) {
                    giant.add(bytes("1"));
                }
                assertThat(client.call(giant).text()).as(name).isEqualTo(HEAP_USED_UP);
                assertThat(client.call("PING").text()).isEqualTo("PONG");
            }
            assertThat(client.call("MULTI").text()).isEqualTo("OK");
            assertThat(client.call(withNames("DEL")).text()).isEqualTo(HEAP_USED_UP);
            assertThat(client.call("EXEC").text()).startsWith("EXECABORT");
            assertThat(own.errors()).doesNotContain("ERROR");
        }
    }

    private static List<byte[]> repeated(List<byte[]> words, int times) {
        List<byte[]> all = new ArrayList<>(words);
        for (int i = 1; i < times; i++) {
            all.addAll(words);
        }
        return all;
    }
}
