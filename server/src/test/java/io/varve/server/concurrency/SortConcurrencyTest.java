package io.varve.server.concurrency;

import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs SORT over keys of all shards while clients on other event loops change them: it sees all of them at one moment.
 */
@Timeout(60)
class SortConcurrencyTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int KEYS = 50;
    private static final int ROUNDS = 2000;

    @Test
    void getPatternsReadOneSnapshot() throws Exception {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "io-threads 3", "shards 8");
        AtomicBoolean over = new AtomicBoolean();
        try (VarveServer server = servers.start(config);
                RawClient client = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int i = 0; i < KEYS; i++) {
                client.call("RPUSH", "l", Integer.toString(i));
            }
            List<Future<Integer>> writers = IntStream.range(0, 2).mapToObj(writer -> threads.submit(() -> {
                int written = 0;
                try (RawClient other = new RawClient(server.port())) {
                    while (!over.get()) {
                        String[] words = new String[1 + 2 * KEYS];
                        words[0] = "MSET";
                        for (int i = 0; i < KEYS; i++) {
                            words[1 + 2 * i] = "w_" + i;
                            words[2 + 2 * i] = writer + ":" + written;
                        }
                        assertThat(other.call(words).text()).isEqualTo("OK");
                        written++;
                    }
                }
                return written;
            })).toList();
            for (int i = 0; i < ROUNDS; i++) {
                List<RawReply> seen = client.call("SORT", "l", "GET", "w_*").elements();
                assertThat(new HashSet<>(seen)).hasSize(1);
            }
            over.set(true);
            for (Future<Integer> writer : writers) {
                assertThat(writer.get()).isPositive();
            }
        }
    }
}
