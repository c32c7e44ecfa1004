package io.varve.server.command.dispatch;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Values grow under an evicting policy, even if they need memory for their whole size. Confined to the test's thread.
 * Admission counts only the command's arguments, so the growth itself may run out of memory and has to be retried.
 */
class GrowthUnderPressureTest {
    private static final int PIECES = 300;
    private static final String PIECE = "p".repeat(4000);

    @Test
    void growingValuesEvictOthers() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2")
                .with("maxmemory-policy", "allkeys-random");
        try (CommandHarness server = new CommandHarness(config)) {
            for (int i = 0; i < 4000; i++) {
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
            }
            for (int i = 0; i < PIECES; i++) {
                assertThat(server.run("APPEND", "grown", PIECE)).as("piece %d", i).startsWith(":");
                assertThat(server.run("HSET", "fields", "f" + i % 60, PIECE)).as("field %d", i).startsWith(":");
                assertThat(server.run("RPUSH", "elements", PIECE)).as("element %d", i).startsWith(":");
                assertThat(server.run("RPUSH", "elements", PIECE, "short", PIECE)).as("element %d", i).startsWith(":");
                assertThat(server.run("ZADD", "scored", "" + i, i % 60 + PIECE)).as("member %d", i).startsWith(":");
                assertThat(server.run("ZADD", "scored", "1", i % 70 + PIECE, "2", "short", "3", i % 80 + PIECE))
                        .as("member %d", i).startsWith(":");
                if (i > 60) {
                    assertThat(server.run("LMOVE", "elements", "moved", "LEFT", "LEFT")).startsWith("$");
                    assertThat(server.run("RPOP", "moved")).startsWith("$");
                }
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
                assertThat(server.run("EXPIRE", "filler" + i, "1000")).startsWith(":");
            }
            assertThat(server.cache().checkIntegrity()).isEmpty();
        }
    }

    private static CommandHarness full(String... first) {
        CommandHarness server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "16mb").with("shards", "2")
                .with("maxmemory-policy", "allkeys-lru"));
        for (String command : first) {
            assertThat(server.run(command.split(" "))).as("%.30s", command).doesNotStartWith("-");
        }
        return server;
    }

    /** ... and the commands' keys are the last that were used. */
    private static String runInFull(CommandHarness server, String command, String... touched) {
        for (int i = 0; i < 8000; i++) {
            assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
            if (i % 500 == 0) {
                server.sleep(1000);
                server.run(("TOUCH " + String.join(" ", touched)).split(" "));
            }
        }
        server.run(("TOUCH " + String.join(" ", touched)).split(" "));
        String reply = server.run(command.split(" "));
        assertThat(server.cache().checkIntegrity()).isEmpty();
        return reply;
    }

    /**
     * While memory is reclaimed for it, another thread locks a shard for long: the transaction waits, although it had
     * written an error that was rolled back.
     */
    @Test
    void aTransactionParkedOnItsRetryIsNotLost() throws Exception {
        try (CommandHarness server = full("RPUSH list x", "SET s " + "v".repeat(1 << 20));
                LockedShard other = new LockedShard(server.cache())) {
            for (int i = 0; i < 8000; i++) {
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
                if (i % 500 == 0) {
                    server.sleep(1000);
                    server.run("TOUCH list s");
                }
            }
            server.run("TOUCH list s");
            long errors = server.errors();
            server.cache().subscribe((change, shard, sequence, database, address, length) -> {
                // The first event is that of GET.
                if (change == Change.EVICTED && server.errors() > errors) {
                    other.lockAnotherThan(shard);
                }
            });
            for (String command : List.of("MULTI", "GET list", "COPY s copy", "DBSIZE")) {
                server.run(command);
            }
            boolean parked = server.isDelayed("EXEC");
            assertThat(other.isLocked()).isTrue();
            assertThat(parked).isTrue();
            other.unlock();
            assertThat(server.run("EXEC")).startsWith("*3\r\n-WRONGTYPE").contains("\r\n:1\r\n");
        }
    }

    /** A shard that another thread locks once and keeps until the end. Confined to the test's thread. */
    private static final class LockedShard implements AutoCloseable {
        private final CacheSession session;
        private final CountDownLatch locked = new CountDownLatch(1);
        private final CountDownLatch end = new CountDownLatch(1);
        private @Nullable Thread thread;

        LockedShard(Cache cache) {
            session = cache.newSession();
        }

        boolean isLocked() {
            return locked.getCount() == 0;
        }

        void lockAnotherThan(int shard) {
            if (thread != null) {
                return;
            }
            Key key = new Key();
            key.bind(0, 0, 0, shard == 0 ? 1 : 0, 0);
            thread = Thread.ofPlatform().start(() -> {
                session.lock(key);
                locked.countDown();
                awaitQuietly(end);
                session.unlock(key);
            });
            awaitQuietly(locked);
        }

        private static void awaitQuietly(CountDownLatch latch) {
            try {
                assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        void unlock() throws InterruptedException {
            end.countDown();
            if (thread != null) {
                thread.join();
            }
        }

        @Override
        public void close() {
            end.countDown();
        }
    }

    /** Its last attempt alone is counted. */
    @Test
    void aTransactionThatRunsAgainCountsEachCommandOnce() {
        try (CommandHarness server = full("RPUSH list x", "SET s " + "v".repeat(1 << 20))) {
            for (int i = 0; i < 8000; i++) {
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
                if (i % 500 == 0) {
                    server.sleep(1000);
                    server.run("TOUCH list s");
                }
            }
            server.run("TOUCH list s");
            for (String command : List.of("CONFIG RESETSTAT", "CONFIG SET slowlog-log-slower-than 0", "MULTI",
                    "GET list",
                    "GET nosuch", "GETRANGE s 0 0", "COPY s copy", "GET nosuch")) {
                server.run(command);
            }
            long errors = server.errors();
            assertThat(server.run("EXEC")).startsWith("*5\r\n-WRONGTYPE").contains("\r\n:1\r\n");
            assertThat(server.errors() - errors).as("it ran more than once").isGreaterThan(1);
            assertThat(server.run("INFO commandstats")).contains("cmdstat_get:calls=3,", "cmdstat_getrange:calls=1,",
                    "cmdstat_copy:calls=1,", "cmdstat_exec:calls=1,").containsPattern("cmdstat_get:.*failed_calls=1")
                    .containsPattern("cmdstat_exec:.*failed_calls=0");
            assertThat(server.run("INFO errorstats")).contains("errorstat_WRONGTYPE:count=1\r\n");
            assertThat(server.run("INFO stats")).contains("keyspace_hits:3\r\n", "keyspace_misses:2\r\n",
                    "total_error_replies:1\r\n");
            assertThat(server.run("SLOWLOG GET 20").split("\\$3\r\nGET\r\n")).hasSize(4);
        }
    }

    /** A command whose rules changed after it was queued is denied once, however often the transaction runs. */
    @Test
    void aCommandOfATransactionThatRunsAgainIsDeniedOnce() {
        try (CommandHarness server = full("SET s " + "v".repeat(1 << 20))) {
            for (int i = 0; i < 8000; i++) {
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
                if (i % 500 == 0) {
                    server.sleep(1000);
                    server.run("TOUCH s");
                }
            }
            server.run("TOUCH s");
            for (String command : List.of("MULTI", "GET s2", "COPY s copy")) {
                server.run(command);
            }
            assertThat(server.runByAnother("ACL", "SETUSER", "default", "-get")).isEqualTo("+OK\r\n");
            long errors = server.errors();
            assertThat(server.run("EXEC")).startsWith("*2\r\n-NOPERM").endsWith(":1\r\n");
            assertThat(server.errors() - errors).as("it ran more than once").isGreaterThan(1);
            assertThat(server.run("INFO stats")).contains("acl_access_denied_cmd:1\r\n");
        }
    }

    /** It needs a copy of the value, and a leaf for it: what it is refused is the second, while it holds the first. */
    @Test
    void heldMemoryCountsForATtlOfALargeField() {
        try (CommandHarness server = full("HSET h big " + "v".repeat(2 << 20) + " small x")) {
            assertThat(runInFull(server, "HEXPIRE h 100 FIELDS 1 big", "h")).isEqualTo("*1\r\n:1\r\n");
        }
    }

    @Test
    void heldMemoryCountsForARotatingList() {
        try (CommandHarness server = full("RPUSH l x " + "v".repeat(2 << 20))) {
            assertThat(runInFull(server, "RPOPLPUSH l l", "l")).startsWith("$" + (2 << 20) + "\r\n");
        }
    }

    @Test
    void heldMemoryCountsForAStoredRange() {
        try (CommandHarness server = full()) {
            for (int i = 0; i < 30_000; i += 1000) {
                StringBuilder add = new StringBuilder("ZADD z");
                for (int k = i; k < i + 1000; k++) {
                    add.append(' ').append(k).append(" member").append(k);
                }
                assertThat(server.run(add.toString().split(" "))).startsWith(":");
            }
            assertThat(runInFull(server, "ZRANGESTORE copy z 0 -1", "z")).isEqualTo(":30000\r\n");
        }
    }

    /** A command that only reads changes nothing, however many keys it has: it is retried once there is memory. */
    @Test
    void aLargeUnionIsReturnedByEvictingOthers() {
        try (CommandHarness server = full()) {
            int members = 15_000;
            for (int set = 0; set < 5; set++) {
                for (int i = 0; i < members; i += 1000) {
                    StringBuilder add = new StringBuilder("SADD s" + set);
                    for (int k = i; k < i + 1000; k++) {
                        add.append(" member").append(set).append(':').append(k);
                    }
                    assertThat(server.run(add.toString().split(" "))).startsWith(":");
                }
            }
            assertThat(runInFull(server, "SUNION s0 s1 s2 s3 s4", "s0", "s1", "s2", "s3", "s4"))
                    .startsWith("*" + 5 * members + "\r\n");
        }
    }
}
