package io.varve.server.command.dispatch;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands that find their shard locked by another thread. Confined to the test's thread, except for that one. */
@Timeout(60)
class ShardWaitersTest {
    /** Holds the lock of a key's shard. Confined to the test's thread. */
    private static final class Holder implements AutoCloseable {
        private final CountDownLatch held = new CountDownLatch(1);
        private final CountDownLatch end = new CountDownLatch(1);
        private final Thread thread;

        Holder(CommandHarness server, String name) throws InterruptedException {
            CacheSession session = server.cache().newSession();
            thread = new Thread(() -> {
                try (Arena arena = Arena.ofConfined()) {
                    byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
                    long address = arena.allocate(bytes.length).address();
                    LiveRanges.add(address, bytes.length);
                    Memory.copy(bytes, 0, address, bytes.length);
                    Key key = new Key();
                    session.bind(key, 0, address, bytes.length);
                    session.lock(key);
                    held.countDown();
                    while (end.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                    session.unlock(key);
                    LiveRanges.remove(address);
                }
            });
            thread.start();
            held.await();
        }

        @Override
        public void close() {
            end.countDown();
            try {
                thread.join();
            } catch (InterruptedException nobodyDoes) {
                throw new AssertionError(nobodyDoes);
            }
        }
    }

    private static CommandHarness server() {
        return new CommandHarness(ServerConfig.defaults().with("maxmemory", "32mb").with("shards", "2"));
    }

    /** A key of the other one of two shards. */
    private static String elsewhere(CommandHarness server, String held) throws InterruptedException {
        for (int i = 0;; i++) {
            String name = "k" + i;
            try (Holder other = new Holder(server, name)) {
                assertThat(other.thread.isAlive()).isTrue();
                if (!server.isDelayed("GET", held)) {
                    server.dropReply();
                    return name;
                }
            }
        }
    }

    @Test
    void aCommandRunsLaterAndOthersNow() throws Exception {
        try (CommandHarness server = server()) {
            assertThat(server.run("MSET", "a", "1", "counted", "0")).isEqualTo("+OK\r\n");
            String other = elsewhere(server, "a");
            try (Holder holder = new Holder(server, "a")) {
                assertThat(holder.thread.isAlive()).isTrue();
                for (String[] command : new String[][] {{"GET", "a"}, {"SET", "a", "2"}, {"MSET", other, "1", "a", "1"},
                        {"INCR", "a"}, {"GET", "a"}}) {
                    assertThat(server.isDelayed(command)).as(command[0]).isTrue();
                }
                assertThat(server.run("SET", other, "x")).isEqualTo("+OK\r\n");
                assertThat(server.run("GET", other)).isEqualTo("$1\r\nx\r\n");
            }
            assertThat(server.run("GET", "a")).isEqualTo("$1\r\n1\r\n");
            assertThat(server.run("MGET", other, "a")).isEqualTo("*2\r\n$1\r\nx\r\n$1\r\n1\r\n");
            assertThat(server.run("INFO", "commandstats")).doesNotContain("cmdstat_incr")
                    .contains("cmdstat_get:calls=3,");
            assertThat(server.run("INFO", "clients")).contains("blocked_clients:0\r\n");
            assertThat(server.cache().checkIntegrity()).isEmpty();
        }
    }

    @Test
    void aTransactionRunsLaterAsOne() throws Exception {
        try (CommandHarness server = server()) {
            String other = elsewhere(server, "a");
            for (String[] command : new String[][] {{"MULTI"}, {"INCR", other}, {"INCR", "a"}}) {
                server.run(command);
            }
            try (Holder holder = new Holder(server, "a")) {
                assertThat(holder.thread.isAlive()).isTrue();
                assertThat(server.isDelayed("EXEC")).isTrue();
                assertThat(server.isDelayed("EXEC")).isTrue();
                assertThat(server.runByAnother("GET", other)).isEqualTo("$-1\r\n");
            }
            assertThat(server.run("EXEC")).isEqualTo("*2\r\n:1\r\n:1\r\n");
            assertThat(server.run("MGET", other, "a")).isEqualTo("*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
        }
    }
}
