package io.varve.server;

import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** SORT over keys of all shards while others change them, on other event loops: it sees all of them at one time. */
@Timeout(60)
class SortConcurrencyTest {
    private static final int KEYS = 50;
    private static final int ROUNDS = 2000;

    @Test
    void whatGetLeadsToIsSeenAtOneTime() throws Exception {
        ServerConfig config = ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb")
                .with("io-threads", "3")
                .with("shards", "8").validate();
        AtomicBoolean over = new AtomicBoolean();
        try (VarveServer server = VarveServer.start(config);
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
