package io.varve.server.clients;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.memory.Cache;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests penalty classes over connections of one event loop; the test controls the clock. Confined to the test's thread.
 */
@Timeout(60)
class PenaltyClientsTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int KEYS = 100;

    private final SettableTicker clock = new SettableTicker();
    private VarveServer server;
    private RawClient one;
    private RawClient other;

    @BeforeEach
    void start() throws IOException {
        ServerConfig config = ServerExtension.config("io-threads 1", "maxmemory 64mb", "shards 4",
                "penalty-tracking yes", "notify-keyspace-events KEA");
        server = servers.start(config, new Tiers(Cache.open(config.cacheConfig().withTicker(clock)), null));
        one = new RawClient(server.port());
        other = new RawClient(server.port());
    }

    @AfterEach
    void stop() throws IOException {
        one.close();
        other.close();
        server.close();
    }

    /** A field of each class that has it, by the class's number. */
    private Map<Integer, Long> events(String field) throws IOException {
        Map<Integer, Long> reported = new HashMap<>();
        for (RawReply of : one.call("VARVE.CLASS", "LIST").elements()) {
            List<RawReply> words = of.elements();
            for (int i = 2; i < words.size(); i += 2) {
                if (words.get(i).text().equals(field) && words.get(i + 1).integer() > 0) {
                    reported.put(Integer.parseInt(words.get(1).text()), words.get(i + 1).integer());
                }
            }
        }
        return reported;
    }

    private static void queueWrites(RawClient client, String prefix, int from) throws IOException {
        for (int i = from; i < from + 10; i++) {
            client.queue("SET", prefix + i, "value");
        }
        client.flush();
    }

    private static void readOk(RawClient client, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            assertThat(client.read().text()).isEqualTo("OK");
        }
    }

    @Test
    void connectionsOfOneEventLoopWriteIntoTheirOwnClasses() throws IOException {
        one.queue("VARVE.CLASS", "DEFAULT", "3");
        other.queue("VARVE.CLASS", "DEFAULT", "12");
        for (int i = 0; i < KEYS; i += 10) {
            queueWrites(one, "one:", i);
            queueWrites(other, "two:", i);
        }
        readOk(one, KEYS + 1);
        readOk(other, KEYS + 1);
        assertThat(events("bytes")).containsOnlyKeys(3, 12);
        assertThat(events("bytes").get(3)).isEqualTo(events("bytes").get(12));
        try (RawClient fresh = new RawClient(server.port())) {
            assertThat(fresh.call("SET", "fresh", "value").text()).isEqualTo("OK");
        }
        assertThat(events("bytes")).as("a new connection begins with what is measured").containsOnlyKeys(0, 3, 12);
        assertThat(one.call("RESET").text()).isEqualTo("RESET");
        assertThat(one.call("DEL", "fresh").text()).isEqualTo("1");
        assertThat(one.call("SET", "after", "value").text()).isEqualTo("OK");
        assertThat(events("bytes")).containsOnlyKeys(0, 3, 12);
    }

    @Test
    void keysThatTakeLongToFetchGetAnotherClassThanOthers() throws IOException {
        for (int i = 0; i < KEYS; i++) {
            fill("cache:" + i, 1);
            fill("database:" + i, 40);
        }
        // 0.63 to 1.27 ms, 20.47 to 40.95 ms.
        Map<Integer, Long> bytes = events("bytes");
        assertThat(bytes).containsOnlyKeys(6, 11);
        for (int i = 0; i < KEYS; i++) {
            assertThat(one.call("GET", "cache:" + i).text()).isEqualTo("value");
            assertThat(one.call("GET", "database:" + i).text()).isEqualTo("value");
        }
        assertThat(events("bytes")).isEqualTo(bytes);
        assertThat(events("reads").get(6)).isGreaterThanOrEqualTo(KEYS);
        assertThat(events("reads").get(11)).isGreaterThanOrEqualTo(KEYS);
    }

    private void fill(String key, long millis) throws IOException {
        assertThat(one.call("GET", key).isNull()).isTrue();
        clock.pass(millis);
        assertThat(one.call("SET", key, "value").text()).isEqualTo("OK");
    }

    @Test
    void aHintEmitsNoNotification() throws IOException {
        assertThat(one.call("SET", "key", "value").text()).isEqualTo("OK");
        assertThat(other.call("HELLO", "3").isError()).isFalse();
        assertThat(other.call("CLIENT", "TRACKING", "ON").text()).isEqualTo("OK");
        assertThat(other.call("GET", "key").text()).isEqualTo("value");
        assertThat(other.call("PSUBSCRIBE", "__key*").kind()).isEqualTo('>');
        assertThat(one.call("VARVE.CLASS", "SET", "key", "3").text()).isEqualTo("OK");
        assertThat(one.call("EXPIRE", "key", "1000").text()).isEqualTo("1");
        assertThat(List.of(other.read().toString(), other.read().toString(), other.read().toString()))
                .as("its events come after those of EXPIRE")
                .anySatisfy(push -> assertThat(push).contains("invalidate"))
                .filteredOn(push -> push.contains("pmessage")).hasSize(2).allMatch(push -> push.contains("expire"));
    }
}
