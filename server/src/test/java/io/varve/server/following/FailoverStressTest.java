package io.varve.server.following;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.Polling;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two servers exchange their roles again and again by FAILOVER, while clients count: no count that was acknowledged is
 * lost. {@code -Dvarve.failovers=N} sets how often.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailoverStressTest {
    private static final int FAILOVERS = TestBudget.ofInt("varve.failovers", 20, 500);
    private static final int WRITERS = 4;

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private final int[] ports = new int[2];

    private VarveServer start(String name) throws IOException {
        return servers.start("maxmemory 64mb", "shards 4", "io-threads 2", "repl-backlog-size 64mb",
                "dir " + Files.createDirectories(directory.resolve(name)));
    }

    /** Counts until the end. @return the last count that was acknowledged */
    private long count(String key, boolean inTransactions, AtomicBoolean ended) {
        long acknowledged = 0;
        for (int at = 0; !ended.get(); at ^= 1) {
            try (RawClient client = new RawClient(ports[at])) {
                while (!ended.get()) {
                    long count = inTransactions ? countInTransaction(client, key) : countOnce(client, key);
                    if (count < 0) {
                        break;
                    }
                    assertThat(count).as("%s at server %d", key, at).isGreaterThan(acknowledged);
                    acknowledged = count;
                }
            } catch (IOException disconnected) {
                // The outcome of the last command is unknown.
                Thread.onSpinWait();
            }
        }
        return acknowledged;
    }

    private static long countOnce(RawClient client, String key) throws IOException {
        String reply = client.command("INCR", key);
        return reply.startsWith(":") ? Long.parseLong(reply.substring(1).strip()) : -1;
    }

    private static long countInTransaction(RawClient client, String key) throws IOException {
        client.queue("MULTI");
        client.queue("INCR", key);
        client.queue("EXEC");
        client.flush();
        client.read();
        client.read();
        var reply = client.read();
        return reply.isError() ? -1 : reply.elements().getFirst().integer();
    }

    @Test
    void noAcknowledgedWriteIsLost() throws Exception {
        ports[0] = start("first").port();
        ports[1] = start("second").port();
        AtomicBoolean ended = new AtomicBoolean();
        try (ExecutorService threads = Executors.newCachedThreadPool();
                RawClient first = new RawClient(ports[0]);
                RawClient second = new RawClient(ports[1])) {
            RawClient[] clients = {first, second};
            FollowingDifferentialTest.follow(second, ports[0]);
            List<Future<Long>> counts = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                String key = "counter" + i;
                boolean inTransactions = i % 2 == 1;
                Callable<Long> writer = () -> count(key, inTransactions, ended);
                counts.add(threads.submit(writer));
            }
            int primary = failOver(clients, ended);
            for (int i = 0; i < WRITERS; i++) {
                long acknowledged = counts.get(i).get();
                assertThat(acknowledged).isPositive();
                assertThat(Long.parseLong(clients[primary].call("GET", "counter" + i).text())).as("counter %d", i)
                        .isGreaterThanOrEqualTo(acknowledged);
            }
            assertThat(first.infoLong("sync_full") + second.infoLong("sync_full")).isLessThanOrEqualTo(FAILOVERS);
        }
    }

    /** @return which server is the primary in the end */
    private static int failOver(RawClient[] clients, AtomicBoolean ended) throws IOException {
        int primary = 0;
        try {
            for (int i = 0; i < FAILOVERS; i++) {
                // The replica knows earlier that it is connected.
                while (!clients[primary].command("INFO", "replication").contains("state=online")) {
                    Polling.pause();
                }
                assertThat(clients[primary].command("FAILOVER")).isEqualTo("+OK\r\n");
                while (!clients[primary].info("role").equals("slave")
                        || !clients[primary].info("master_link_status").equals("up")) {
                    Polling.pause();
                }
                primary ^= 1;
            }
            return primary;
        } finally {
            ended.set(true);
        }
    }
}
