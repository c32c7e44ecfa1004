package io.varve.examples;

import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.varve.server.VarveServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link SessionStore}. Confined to the test's thread; events arrive through a queue. */
class SessionStoreTest {
    private static final int SESSIONS = 50;
    private static final int PATIENCE_SECONDS = 20;

    private final BlockingQueue<String> reported = new LinkedBlockingQueue<>();

    private void ended(String id, Map<String, String> attributes) {
        reported.add(id + " " + attributes);
    }

    @Test
    void aSessionLivesWhileItIsUsed() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                SessionStore sessions = new SessionStore(client, Duration.ofHours(1), this::ended)) {
            String id = sessions.begin(Map.of("user", "ann"));
            assertThat(sessions.use(id)).contains(Map.of("user", "ann"));
            assertThat(sessions.set(id, "cart", "3 books")).isTrue();
            assertThat(sessions.use(id)).contains(Map.of("user", "ann", "cart", "3 books"));
            sessions.end(id);
            assertThat(sessions.use(id)).isEmpty();
            assertThat(sessions.set(id, "cart", "none")).isFalse();
            assertThat(reported).isEmpty();
        }
    }

    /**
     * An idle session's end is reported without a request for it, to one of the stores that share it, with its content.
     */
    @Test
    void endOfIdleSessionIsReported() throws Exception {
        Duration idle = Duration.ofMillis(50);
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                StatefulRedisConnection<String, String> reader = client.connect();
                SessionStore sessions = new SessionStore(client, idle, this::ended);
                SessionStore others = new SessionStore(client, idle, this::ended)) {
            Set<String> expected = new HashSet<>();
            for (int i = 0; i < SESSIONS; i++) {
                SessionStore store = i % 2 == 0 ? sessions : others;
                expected.add(store.begin(Map.of("user", "u" + i)) + " {user=u" + i + "}");
            }
            Set<String> heard = new HashSet<>();
            for (int i = 0; i < SESSIONS; i++) {
                assertThat(heard.add(reported.poll(PATIENCE_SECONDS, TimeUnit.SECONDS))).isTrue();
            }
            assertThat(heard).isEqualTo(expected);
            assertThat(reader.sync().dbsize()).isZero();
            assertThat(reported).isEmpty();
        }
    }
}
