package io.varve.server.command.persistence;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.Cache;
import io.varve.server.VarveServer;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.SnapshotFile;
import io.varve.server.persistence.SnapshotStatus;
import io.varve.server.persistence.Snapshots;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.Polling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static io.varve.server.rdb.Payloads.length;
import static io.varve.server.rdb.Payloads.listpack;
import static io.varve.server.rdb.Payloads.texts;
import static io.varve.server.rdb.Payloads.ziplist;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Saving and loading snapshots of servers that start and end. Confined to the test's thread. */
@Timeout(300)
class SnapshotTest {
    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private VarveServer start(String... settings) throws IOException {
        String[] all = new String[settings.length + 4];
        System.arraycopy(settings, 0, all, 4, settings.length);
        all[0] = "maxmemory 64mb";
        all[1] = "dir " + directory;
        all[2] = "enable-debug-command yes";
        all[3] = "enable-protected-configs yes";
        return VarveServer.start(ServerExtension.config(all));
    }

    private Path file() {
        return directory.resolve("dump.rdb");
    }

    private static SnapshotSaver saver(ServerState state) {
        SnapshotSaver saver = new SnapshotSaver(state);
        state.snapshots(saver);
        state.logLifecycle(new LogControl(state));
        return saver;
    }

    private static String digest(RawClient client) throws IOException {
        return client.call("DEBUG", "DIGEST").text();
    }

    @Test
    void savedData_isThereAfterARestart() throws IOException {
        String digest;
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 5_000, "value");
            client.command("HSET", "hash", "f", "1", "g", "2");
            client.command("HPEXPIRE", "hash", "1000000", "FIELDS", "1", "f");
            client.command("SET", "expiring", "1", "PX", "1000000");
            digest = digest(client);
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
            assertThat(client.infoLong("rdb_saves")).isEqualTo(1);
            assertThat(client.infoLong("rdb_changes_since_last_save")).isZero();
            client.command("SET", "later", "not saved");
            assertThat(client.infoLong("rdb_changes_since_last_save")).isEqualTo(1);
        }
        assertThat(directory).isDirectoryContaining(path -> path.endsWith("dump.rdb"));
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
            assertThat(client.infoLong("rdb_last_load_keys_loaded")).isEqualTo(5_002);
            assertThat(client.call("PTTL", "expiring").integer()).isBetween(900_000L, 1_000_000L);
            assertThat(client.call("HPTTL", "hash", "FIELDS", "1", "f").elements().getFirst().integer())
                    .isBetween(900_000L, 1_000_000L);
        }
    }

    @Test
    void snapshotDuringWrites_isThatOfItsStart() throws IOException, InterruptedException {
        String digest;
        try (VarveServer server = start("io-threads 2"); RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 60_000, "value");
            for (int i = 0; i < 2_000; i++) {
                client.command("RPUSH", "list", "element" + i);
                client.command("HSET", "hash", "field" + i, "value");
            }
            digest = digest(client);
            AtomicBoolean ended = new AtomicBoolean();
            AtomicInteger writes = new AtomicInteger();
            Thread writer = new Thread(() -> write(server.port(), ended, writes));
            assertThat(client.command("BGSAVE")).isEqualTo("+Background saving started\r\n");
            while (client.infoLong("current_save_keys_total") == 0) {
                assertThat(client.infoLong("rdb_saves")).as("ended before the first write").isZero();
            }
            writer.start();
            while (client.infoLong("rdb_bgsave_in_progress") == 1) {
                Polling.pause();
            }
            assertThat(writes.get()).as("writes during the save").isPositive();
            ended.set(true);
            writer.join();
            assertThat(client.info("rdb_last_bgsave_status")).isEqualTo("ok");
        }
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
        }
    }

    /** Changes every kind of value, in a connection of its own. */
    private static void write(int port, AtomicBoolean ended, AtomicInteger writes) {
        try (RawClient client = new RawClient(port)) {
            for (int i = 0; !ended.get(); i++) {
                client.command("SET", "key" + i % 60_000, "changed");
                client.command("DEL", "key" + (i * 7 + 1) % 60_000);
                client.command("APPEND", "key" + (i * 13 + 2) % 60_000, "more");
                client.command("SET", "new" + i, "not in the snapshot");
                client.command("LPOP", "list");
                client.command("HSET", "hash", "field" + i % 2_000, "changed");
                client.command("RENAME", "key" + (i * 3 + 5) % 60_000, "renamed" + i);
                writes.incrementAndGet();
            }
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
    }

    @Test
    void shutdown_savesIfThereAreRules() throws IOException, InterruptedException {
        try (VarveServer server = start("save 3600 1"); RawClient client = new RawClient(server.port())) {
            client.command("SET", "key", "1");
        }
        assertThat(file()).exists();
        try (VarveServer server = start("save 3600 1"); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("GET", "key").text()).isEqualTo("1");
            client.command("SET", "key", "2");
            client.queue("SHUTDOWN", "NOSAVE");
            client.flush();
            server.awaitShutdown();
        }
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("GET", "key").text()).isEqualTo("1");
            client.command("SET", "key", "3");
            client.queue("SHUTDOWN", "SAVE");
            client.flush();
            assertThat(client.readToEnd()).isEmpty();
            server.awaitShutdown();
        }
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("GET", "key").text()).isEqualTo("3");
        }
    }

    @Test
    void shutdownOfAClientThatDisconnects_savesAndEnds() throws IOException, InterruptedException {
        try (VarveServer server = start()) {
            try (RawClient client = new RawClient(server.port())) {
                client.setKeys("key", 100_000, "value");
                client.queue("SHUTDOWN", "SAVE");
                client.flush();
            }
            server.awaitShutdown();
        }
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("DBSIZE").integer()).isEqualTo(100_000);
        }
    }

    /** Old versions of Redis have written such keys; no server has them. */
    @Test
    void emptyCollections_areSkipped() throws IOException {
        String entries = "\u0002" + texts("set") + length(0) + "\u0004" + texts("hash") + length(0)
                + "\n" + texts("list") + ziplist() + "\u000e" + texts("list 2") + length(1) + ziplist()
                + "\u0012" + texts("list 3") + length(0) + "\u0005" + texts("zset") + length(0)
                + "\u0011" + texts("zset 2") + listpack() + "\u0014" + texts("set 2") + listpack()
                + "\0" + texts("string", "") + "\u0001" + texts("list 4") + length(1) + texts("a");
        Files.write(file(), ("REDIS0010" + entries + "\u00ff\0\0\0\0\0\0\0\0").getBytes(StandardCharsets.ISO_8859_1));
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("DBSIZE").integer()).isEqualTo(2);
            assertThat(client.call("STRLEN", "string").integer()).isZero();
            assertThat(client.call("LLEN", "list 4").integer()).isEqualTo(1);
            assertThat(client.infoLong("rdb_last_load_keys_loaded")).isEqualTo(2);
        }
    }

    @Test
    void rules_saveByThemselves() throws IOException {
        try (VarveServer server = start("save 1 2"); RawClient client = new RawClient(server.port())) {
            client.command("SET", "key", "1");
            client.command("SET", "key", "2");
            while (client.infoLong("rdb_saves") == 0) {
                Polling.pause();
            }
            assertThat(client.infoLong("rdb_changes_since_last_save")).isZero();
            assertThat(file()).exists();
        }
    }

    @Test
    void failure_keepsThePreviousFile() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.command("SET", "key", "1");
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
            byte[] before = Files.readAllBytes(file());
            client.command("SET", "key", "2");
            assertThat(client.command("CONFIG", "SET", "dbfilename", "no".repeat(200))).isEqualTo("+OK\r\n");
            assertThat(client.command("SAVE")).startsWith("-ERR the snapshot was not saved");
            assertThat(client.info("rdb_last_bgsave_status")).isEqualTo("err");
            assertThat(Files.readAllBytes(file())).isEqualTo(before);
            assertThat(client.command("CONFIG", "SET", "dbfilename", "../else")).contains("without a path");
            client.command("CONFIG", "SET", "dbfilename", "dump.rdb");
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
            assertThat(client.info("rdb_last_bgsave_status")).isEqualTo("ok");
        }
    }

    @Test
    void failureOfAServerWithRules_refusesWrites() throws IOException {
        try (VarveServer server = start("save 3600 1000"); RawClient client = new RawClient(server.port())) {
            client.command("SET", "key", "1");
            client.command("CONFIG", "SET", "dbfilename", "no".repeat(200));
            assertThat(client.command("SAVE")).startsWith("-ERR the snapshot was not saved");
            assertThat(client.command("SET", "key", "2")).startsWith("-MISCONF The last snapshot");
            assertThat(client.call("GET", "key").text()).isEqualTo("1");
            client.command("CONFIG", "SET", "stop-writes-on-bgsave-error", "no");
            assertThat(client.command("SET", "key", "3")).isEqualTo("+OK\r\n");
            client.command("CONFIG", "SET", "stop-writes-on-bgsave-error", "yes");
            assertThat(client.command("SET", "key", "4")).startsWith("-MISCONF");
            client.command("CONFIG", "SET", "save", "");
            assertThat(client.command("SET", "key", "5")).isEqualTo("+OK\r\n");
            client.command("CONFIG", "SET", "save", "3600 1000", "dbfilename", "dump.rdb");
            assertThat(client.command("SET", "key", "6")).startsWith("-MISCONF");
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
            assertThat(client.command("SET", "key", "7")).isEqualTo("+OK\r\n");
        }
    }

    @Test
    void damagedFile_stopsTheStart_andIsLeftAlone() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 100, "a value");
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
        }
        byte[] good = Files.readAllBytes(file());
        byte[] damaged = good.clone();
        damaged[good.length / 2] ^= 4;
        Files.write(file(), damaged);
        assertThatThrownBy(() -> start().close()).isInstanceOf(IOException.class)
                .hasMessageContaining("dump.rdb: offset ");
        assertThat(Files.readAllBytes(file())).isEqualTo(damaged);
        byte[] torn = java.util.Arrays.copyOf(good, good.length - 20);
        Files.write(file(), torn);
        assertThatThrownBy(() -> start().close()).isInstanceOf(IOException.class)
                .hasMessageContaining("dump.rdb: offset ");
        Files.writeString(file(), "no snapshot");
        assertThatThrownBy(() -> start().close()).isInstanceOf(IOException.class)
                .hasMessageContaining("expected an RDB file");
    }

    @Test
    void dataThatDoesNotFit_stopsTheStart_unlessThePolicyEvicts() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 20_000, "a value of some length, so that two megabytes are too few");
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
        }
        assertThatThrownBy(() -> start("maxmemory 1mb").close()).isInstanceOf(IOException.class)
                .hasMessageContaining("does not fit into maxmemory 1048576");
        try (VarveServer server = start("maxmemory 1mb", "maxmemory-policy allkeys-lru");
                RawClient client = new RawClient(server.port())) {
            assertThat(client.call("DBSIZE").integer()).isBetween(1_000L, 19_999L);
        }
    }

    /** The numbers of keys that a file announces are only a hint. */
    @Test
    void announcedSizesThatAreWrong_changeNothing() throws IOException {
        String digest;
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 30_000, "value");
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
            digest = digest(client);
        }
        byte[] right = Files.readAllBytes(file());
        int from = new String(right, StandardCharsets.ISO_8859_1).indexOf("\u00fb\u0080\0\0u0\0");
        assertThat(from).as("30,000 keys are announced").isPositive();
        byte[] largest = {(byte) 0xfb, (byte) 0x81, 0x7f, -1, -1, -1, -1, -1, -1, -1, 0};
        byte[] none = {(byte) 0xfb, 0, 0};
        byte[] few = {(byte) 0xfb, 0x41, 0, 0};
        for (byte[] announced : new byte[][] {largest, none, few}) {
            Files.write(file(), withSizes(right, from, announced));
            try (VarveServer server = start("maxmemory 32mb"); RawClient client = new RawClient(server.port())) {
                assertThat(digest(client)).isEqualTo(digest);
                assertThat(client.infoLong("used_memory")).isLessThan(30 << 20);
            }
        }
    }

    /** The snapshot with other numbers of keys in its first database, and without a checksum. */
    private static byte[] withSizes(byte[] file, int from, byte[] announced) {
        ByteArrayOutputStream changed = new ByteArrayOutputStream();
        changed.write(file, 0, from);
        changed.writeBytes(announced);
        int rest = from + 7;
        changed.write(file, rest, file.length - Long.BYTES - rest);
        changed.writeBytes(new byte[Long.BYTES]);
        return changed.toByteArray();
    }

    /** Else a start would bring back what was flushed. */
    @Test
    void flushAll_savesAtOnceIfThereAreRules() throws IOException {
        try (VarveServer server = start("save 3600 1000000"); RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 1_000, "value");
            client.command("SAVE");
            long saves = client.infoLong("rdb_saves");
            client.command("FLUSHDB");
            assertThat(client.infoLong("rdb_saves")).as("of one database").isEqualTo(saves);
            assertThat(client.command("FLUSHALL")).isEqualTo("+OK\r\n");
            assertThat(client.infoLong("rdb_saves")).isEqualTo(saves + 1);
            assertThat(client.infoLong("rdb_changes_since_last_save")).isZero();
            client.queue("MULTI");
            client.queue("FLUSHALL");
            client.queue("EXEC");
            client.flush();
            assertThat(client.reply()).isEqualTo("+OK\r\n");
            assertThat(client.reply()).isEqualTo("+QUEUED\r\n");
            assertThat(client.read().elements()).hasSize(1);
            while (client.infoLong("rdb_saves") < saves + 2) {
                Polling.pause();
            }
        }
    }

    @Test
    void close_endsARunningSaveWithoutAFile() throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "dir " + directory);
        try (Cache cache = Cache.open(config.cacheConfig())) {
            ServerState state = new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {});
            SnapshotSaver saver = saver(state);
            CompletableFuture<String> ended = new CompletableFuture<>();
            boolean begun = saver.start(false, () -> {
                while (!saver.isCancelled()) {
                    Thread.onSpinWait();
                }
                new SnapshotWriter(state, state.telemetry().snapshots(), () -> SnapshotFile.create(file()), false,
                        saver::isCancelled)
                        .write(() -> {}, () -> {});
            }, ended::complete);
            assertThat(begun).isTrue();
            saver.close();
            assertThat(ended.join()).isEqualTo("the server is closing");
            assertThat(directory).isEmptyDirectory();
            CompletableFuture<String> refused = new CompletableFuture<>();
            saver.request(refused::complete);
            assertThat(refused.join()).isEqualTo("the server is closing");
        }
    }

    /** As in Redis. */
    @ParameterizedTest
    @CsvSource({"allkeys-lru,true", "volatile-lru,true", "allkeys-penalty,true", "noeviction,false",
            "allkeys-random,false", "volatile-ttl,false"})
    void lastAccesses_areKept_ifThePolicyUsesThem(String policy, boolean isKept) throws IOException {
        try (VarveServer server = start("maxmemory-policy " + policy);
                RawClient client = new RawClient(server.port())) {
            client.command("SET", "key", "value");
            String payload = client.call("DUMP", "key").text();
            assertThat(client.call("RESTORE", "idle", "0", payload, "IDLETIME", "5000").text()).isEqualTo("OK");
            assertThat(client.call("OBJECT", "IDLETIME", "idle").integer()).isBetween(4_900L, 5_100L);
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
        }
        try (VarveServer server = start("maxmemory-policy " + policy);
                RawClient client = new RawClient(server.port())) {
            assertThat(client.call("OBJECT", "IDLETIME", "idle").integer() > 4_900).isEqualTo(isKept);
        }
    }

    /** A client that waits for the end of a save, as INFO tells it, can begin the next one. */
    @Test
    void savesAreSeen_fromTheirReplyUntilTheNextOneCanBegin() {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "dir " + directory);
        try (Cache cache = Cache.open(config.cacheConfig())) {
            ServerState state = new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {});
            SnapshotSaver saver = saver(state);
            SnapshotStatus save = state.telemetry().snapshots();
            SnapshotStatus rewrite = state.telemetry().logRewrites();
            CompletableFuture<Void> saved = new CompletableFuture<>();
            CompletableFuture<Void> mayEnd = new CompletableFuture<>();
            CompletableFuture<String> ended = new CompletableFuture<>();
            assertThat(saver.start(true, new Snapshots.Task() {
                @Override
                public void begins() {
                    rewrite.begun(0);
                }

                @Override
                public void run() {
                    rewrite.succeeded(1);
                    saved.complete(null);
                    mayEnd.join();
                }
            }, ended::complete)).isTrue();
            assertThat(save.isSaving()).isTrue();
            assertThat(rewrite.isSaving()).isTrue();
            saved.join();
            assertThat(saver.start(_ -> {})).isFalse();
            assertThat(save.saves()).isOne();
            assertThat(save.isSaving()).isTrue();
            assertThat(rewrite.isSaving()).isTrue();
            mayEnd.complete(null);
            assertThat(ended.join()).isNull();
            assertThat(save.isSaving()).isFalse();
            assertThat(rewrite.isSaving()).isFalse();
            assertThat(saver.start(_ -> {})).isTrue();
            saver.close();
        }
    }

    @Test
    void flushDuringASave_beginsItAgain() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 60_000, "value");
            client.queue("BGSAVE");
            client.queue("FLUSHALL");
            client.queue("SET", "after", "1");
            client.flush();
            assertThat(client.reply()).isEqualTo("+Background saving started\r\n");
            assertThat(client.reply()).isEqualTo("+OK\r\n");
            assertThat(client.reply()).isEqualTo("+OK\r\n");
            while (client.infoLong("rdb_bgsave_in_progress") == 1) {
                Polling.pause();
            }
            assertThat(client.info("rdb_last_bgsave_status")).isEqualTo("ok");
        }
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("DBSIZE").integer()).isIn(0L, 1L, 60_000L);
        }
    }
}
