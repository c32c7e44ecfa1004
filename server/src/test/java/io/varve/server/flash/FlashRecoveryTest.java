package io.varve.server.flash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.store.StoreException;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.TierFiles;
import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.testing.HookedStore;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.ServerOverFlash;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Starts with a flash directory, a log and a snapshot in every combination, each one as old as the others or older. The
 * data is some three times as large as memory. Confined to the test's thread.
 */
@Timeout(600)
class FlashRecoveryTest {
    private static final int KEYS = 6000;
    private static final int KEYS_AT_ONCE = 100;
    private static final String FILL = "x".repeat(1500);

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private Path dir() {
        return directory.resolve("dir");
    }

    private Path flash() {
        return directory.resolve("flash");
    }

    private Path log() {
        return dir().resolve("appendonlydir");
    }

    private VarveServer start(String... settings) throws IOException {
        return start(true, settings);
    }

    private VarveServer start(boolean overFlash, String... settings) throws IOException {
        Files.createDirectories(dir());
        List<String> all = new ArrayList<>(List.of("dir " + dir(), "shards 4", "io-threads 2",
                "maxmemory-policy allkeys-lru", "enable-debug-command yes", "segment-size 16kb", "segment-heads 2"));
        if (overFlash) {
            all.addAll(List.of("maxmemory 4mb", "flash-dir " + flash(), "flash-queue-size 32mb",
                    "flash-cache-size 4mb", "flash-max-items 20000"));
        } else {
            all.add("maxmemory 64mb");
        }
        all.addAll(List.of(settings));
        return VarveServer.start(ServerExtension.config(all.toArray(String[]::new)));
    }

    private static void write(RawClient client, String version) throws IOException {
        for (int i = 0; i < KEYS; i += KEYS_AT_ONCE) {
            for (int j = i; j < i + KEYS_AT_ONCE; j++) {
                client.queue("SET", "key" + j, version + j + FILL);
            }
            client.flush();
            for (int j = i; j < i + KEYS_AT_ONCE; j++) {
                assertThat(client.read().text()).isEqualTo("OK");
            }
        }
    }

    /** @return how many keys there are; their values have to be of this version */
    private static int count(RawClient client, String version) throws IOException {
        int count = 0;
        for (int i = 0; i < KEYS; i += KEYS_AT_ONCE) {
            for (int j = i; j < i + KEYS_AT_ONCE; j++) {
                client.queue("GET", "key" + j);
            }
            client.flush();
            for (int j = i; j < i + KEYS_AT_ONCE; j++) {
                RawReply reply = client.read();
                if (!reply.isNull()) {
                    assertThat(reply.text()).isEqualTo(version + j + FILL);
                    count++;
                }
            }
        }
        return count;
    }

    private static String digest(RawClient client) throws IOException {
        return client.call("DEBUG", "DIGEST").text();
    }

    private static void expectAll(RawClient client, String version, String digest) throws IOException {
        assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS);
        assertThat(digest(client)).isEqualTo(digest);
        assertThat(client.infoLong("flash_items")).as("items on flash").isGreaterThan(KEYS / 4);
        assertThat(count(client, version)).isEqualTo(KEYS);
        assertThat(client.infoLong("flash_shed") + client.infoLong("flash_evictions")).isZero();
    }

    /** Runs a server that writes all keys. @return the digest of its data */
    private String writeAll(String version, String... settings) throws IOException {
        try (VarveServer server = start(settings); RawClient client = new RawClient(server.port())) {
            write(client, version);
            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS);
            return digest(client);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path file : all.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    @Test
    void logAndFlash_theLogIsLoaded() throws IOException {
        String digest = writeAll("v", "appendonly yes");
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            expectAll(client, "v", digest);
        }
        // Again, without any writes between.
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            expectAll(client, "v", digest);
        }
    }

    @Test
    void rewrittenLog_hasTheKeysOnFlash() throws IOException {
        String digest;
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            write(client, "v");
            client.command("BGREWRITEAOF");
            ServerOverFlash.await(() -> client.infoLong("aof_rewrite_in_progress") == 0
                    && client.infoLong("aof_base_size") > (long) KEYS * FILL.length() / 50);
            client.command("HSET", "hash", "field", "value");
            client.command("DEL", "hash");
            digest = digest(client);
        }
        delete(flash());
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            expectAll(client, "v", digest);
        }
    }

    @Test
    void logAlone_isLoaded() throws IOException {
        String digest = writeAll("v", "appendonly yes");
        delete(flash());
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            expectAll(client, "v", digest);
        }
        // Without flash as well, if memory is large enough.
        try (VarveServer server = start(false, "appendonly yes"); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
        }
    }

    @Test
    void flashAlone_keepsTheKeysThatWereThere() throws IOException {
        writeAll("v");
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            long size = client.call("DBSIZE").integer();
            assertThat(size).isBetween(KEYS / 4L, KEYS - 1L);
            assertThat(count(client, "v")).isEqualTo((int) size);
        }
    }

    @Test
    void neither_startsEmpty() throws IOException {
        writeAll("v", "appendonly yes");
        delete(flash());
        delete(log());
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("DBSIZE").integer()).isZero();
        }
    }

    @Test
    void logOlderThanFlash_theLogIsLoaded() throws IOException {
        String digest = writeAll("old", "appendonly yes");
        copy(log(), directory.resolve("oldlog"));
        writeAll("new", "appendonly yes");
        delete(log());
        Files.move(directory.resolve("oldlog"), log());
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            expectAll(client, "old", digest);
        }
    }

    @Test
    void flashOlderThanLog_theLogIsLoaded() throws IOException {
        writeAll("old", "appendonly yes");
        copy(flash(), directory.resolve("oldflash"));
        String digest = writeAll("new", "appendonly yes");
        delete(flash());
        Files.move(directory.resolve("oldflash"), flash());
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            expectAll(client, "new", digest);
        }
    }

    @Test
    void flashWithoutLog_isTheFirstBase() throws IOException {
        writeAll("v");
        String digest;
        long size;
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            size = client.call("DBSIZE").integer();
            assertThat(size).isGreaterThan(KEYS / 4L);
            digest = digest(client);
        }
        delete(flash());
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("DBSIZE").integer()).isEqualTo(size);
            assertThat(digest(client)).isEqualTo(digest);
        }
    }

    @Test
    void logTurnedOnAtRunTime_hasTheKeysOnFlash() throws IOException {
        String digest;
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            write(client, "v");
            assertThat(client.call("CONFIG", "SET", "appendonly", "yes").text()).isEqualTo("OK");
            ServerOverFlash.await(() -> client.infoLong("aof_rewrite_in_progress") == 0
                    && client.infoLong("aof_base_size") > (long) KEYS * FILL.length() / 50);
            digest = digest(client);
        }
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            expectAll(client, "v", digest);
        }
    }

    @Test
    void snapshotAndFlash_theSnapshotIsLoaded() throws IOException {
        String digest;
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            write(client, "old");
            assertThat(client.call("SAVE").text()).isEqualTo("OK");
            digest = digest(client);
            write(client, "new");
        }
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            expectAll(client, "old", digest);
        }
        delete(flash());
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            expectAll(client, "old", digest);
        }
        try (VarveServer server = start(false); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
        }
    }

    @Test
    void snapshotOfShutdown_andReload_haveAllKeys() throws IOException {
        String digest;
        try (VarveServer server = start("save 3600 1"); RawClient client = new RawClient(server.port())) {
            write(client, "v");
            client.command("HSET", "hash", "field", "value", "timed", "value");
            client.command("HPEXPIRE", "hash", "100000000", "FIELDS", "1", "timed");
            client.command("SET", "expires", "value", "PX", "100000000");
            write(client, "v");
            digest = digest(client);
            assertThat(client.call("DEBUG", "RELOAD").text()).isEqualTo("OK");
            assertThat(digest(client)).isEqualTo(digest);
            assertThat(client.call("DEBUG", "RELOAD", "NOFLUSH").text()).isEqualTo("OK");
            assertThat(digest(client)).isEqualTo(digest);
            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS + 2);
        }
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
            assertThat(count(client, "v")).isEqualTo(KEYS);
        }
    }

    @Test
    void flushesAndSwapsOfALog_areRepeatedOverFlash() throws IOException {
        String digest;
        // In transactions they run without flash only.
        try (VarveServer server = start(false, "appendonly yes"); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < 3; i++) {
                write(client, "v" + i);
                for (String line : List.of("MULTI", "SWAPDB 0 1", "SET marker " + i, "EXEC", "FLUSHDB")) {
                    client.command(line.split(" "));
                }
            }
            write(client, "last");
            digest = digest(client);
        }
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
            assertThat(count(client, "last")).isEqualTo(KEYS);
        }
    }

    private VarveServer startOver(HookedStore[] store) throws IOException {
        Files.createDirectories(dir());
        ServerConfig config = ServerExtension.config("dir " + dir(), "shards 4", "io-threads 1", "maxmemory 4mb",
                "maxmemory-policy allkeys-lru", "enable-debug-command yes", "segment-size 16kb", "segment-heads 2",
                "appendonly yes", "flash-queue-size 32mb", "flash-max-items 20000");
        TierFiles files = TierFiles.open(flash(), at -> {
            store[0] = new HookedStore(JeStore.open(at, JeSettings.of(8 << 20)));
            return store[0];
        }, config.cacheConfig().databases(), false, System.currentTimeMillis());
        Cache cache = Cache.open(config.cacheConfig().withHashSeed(files.hashSeed())
                .withTicker(new ReplayClock(Ticker.system())));
        return VarveServer.start(config, new Tiers(cache, FlashTier.start(files, cache, config.flashSettings())));
    }

    @Test
    void flashThatFails_stopsWritesUntilTheLogIsRewritten() throws IOException {
        HookedStore[] store = new HookedStore[1];
        String digest;
        try (VarveServer server = startOver(store); RawClient client = new RawClient(server.port())) {
            write(client, "v");
            CountDownLatch mayWalk = new CountDownLatch(1);
            AtomicBoolean failed = new AtomicBoolean();
            store[0].before(call -> {
                if (call.equals("get")) {
                    failed.set(true);
                    throw new StoreException(StoreException.Kind.BROKEN, "for the test", null);
                }
                if (call.equals("walk") && failed.get()) {
                    // No rewrite ends before.
                    HookedStore.awaitQuietly(mayWalk);
                }
            });
            for (int i = 0; !failed.get(); i++) {
                client.call("GET", "key" + i);
            }
            assertThat(client.call("SET", "new", "value").text()).startsWith("MISCONF The flash tier has failed");
            assertThat(client.call("MGET", "key0", "key" + (KEYS - 1)).isError()).as("reads are refused").isFalse();
            store[0].before(_ -> {});
            mayWalk.countDown();
            ServerOverFlash.await(() -> !client.call("SETNX", "key0", "again").isError());
            assertThat(client.call("GET", "key0").text()).isEqualTo("again");
            digest = digest(client);
        }
        try (VarveServer server = start("appendonly yes"); RawClient client = new RawClient(server.port())) {
            assertThat(digest(client)).isEqualTo(digest);
            assertThat(client.call("GET", "key0").text()).isEqualTo("again");
        }
    }
}
