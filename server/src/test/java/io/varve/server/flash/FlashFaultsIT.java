package io.varve.server.flash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.store.StoreException;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.TierFiles;
import io.varve.memory.Cache;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.HookedStore;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.server.testing.HookedStore.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests a server with a flash tier when flash fails or the process is killed. Confined to the test's thread. */
class FlashFaultsIT {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final String VALUE = "v".repeat(1000);
    private static final int KEYS = 20_000;
    private static final int FREED_KEYS = 3000;
    /** The keys that were set first. With equal access times eviction takes any, but one of so many is on flash. */
    private static final int FIRST_KEYS = 200;
    private static final int KILLS = TestBudget.ofInt("varve.flash.kills", 2, 20);
    private static final List<String> SMALL = List.of("--maxmemory", "8mb", "--shards", "4", "--segment-size", "32kb",
            "--maxmemory-policy", "allkeys-lru", "--flash-max-items", "100000");

    @TempDir
    Path directory;

    private @Nullable HookedStore store;
    private Consumer<HookedStore> opened = _ -> {};

    private String[] settings(String... more) {
        List<String> all = new java.util.ArrayList<>(SMALL);
        all.addAll(List.of("--flash-dir", directory.toString()));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    /** In this process, over a store that the test can hook into. */
    private VarveServer start() throws IOException {
        ServerConfig config = ServerExtension.config("io-threads 1", "maxmemory 8mb", "shards 4", "segment-size 32kb",
                "maxmemory-policy allkeys-lru", "flash-max-items 100000", "flash-queue-size 64mb");
        TierFiles files = TierFiles.open(directory, at -> {
            HookedStore hooked = new HookedStore(JeStore.open(at, JeSettings.of(8 << 20)));
            opened.accept(hooked);
            store = hooked;
            return hooked;
        }, config.cacheConfig().databases(), false, 1_700_000_000_000L);
        Cache cache = Cache.open(config.cacheConfig().withHashSeed(files.hashSeed()));
        return servers.start(config, new Tiers(cache, FlashTier.start(files, cache, config.flashSettings())));
    }

    private HookedStore store() {
        return java.util.Objects.requireNonNull(store);
    }

    /** After repeated kills, overwritten and deleted items stay so, and most items of flash are still there. */
    @Test
    void killedItBringsNothingBackThatWasOverwritten() throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom(12);
        Map<String, @Nullable String> model = new HashMap<>();
        int warm = 0;
        for (int kill = 0; kill <= KILLS; kill++) {
            try (ServerProcess server = ServerProcess.start(settings());
                    RawClient client = new RawClient(server.port())) {
                for (int i = 0; i < KEYS; i++) {
                    client.queue("GET", "key:" + i);
                }
                client.flush();
                for (int i = 0; i < KEYS; i++) {
                    RawReply reply = client.read();
                    String found = reply.isNull() ? null : reply.text();
                    assertThat(found).as("key:%d after kill %d", i, kill).isIn(model.get("key:" + i), null);
                    model.put("key:" + i, found);
                    warm += found == null ? 0 : 1;
                }
                // No later process reads what this one writes.
                int steps = kill == KILLS ? 0 : 20_000 + random.nextInt(10_000);
                for (int step = 0; step < steps; step += 50) {
                    for (int i = 0; i < 50; i++) {
                        String key = "key:" + random.nextInt(KEYS);
                        if (random.nextInt(5) == 0) {
                            client.queue("DEL", key);
                            model.put(key, null);
                        } else {
                            String value = VALUE + kill + "-" + step + "-" + i;
                            client.queue("SET", key, value);
                            model.put(key, value);
                        }
                    }
                    client.flush();
                    for (int i = 0; i < 50; i++) {
                        assertThat(client.read().isError()).isFalse();
                    }
                }
                server.process().destroyForcibly().waitFor();
            }
        }
        assertThat(warm).as("came back warm").isGreaterThan(KILLS * 2000);
    }

    @Test
    void aDirectoryThatIsInUseIsRefused() throws IOException, InterruptedException {
        try (ServerProcess server = ServerProcess.start(settings());
                RawClient client = new RawClient(server.port())) {
            Process second = new ProcessBuilder(ServerProcess.command(
                    Stream.concat(Stream.of("--port", "0"),
                            Arrays.stream(settings())).toList()))
                    .redirectErrorStream(true).start();
            String said = new String(second.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(second.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(second.exitValue()).as(said).isEqualTo(2);
            assertThat(said).contains("varve: flash-dir " + directory + ": another process uses it");
            assertThat(client.call("SET", "key", "value").text()).isEqualTo("OK");
        }
    }

    /** While one client waits for flash, its event loop serves others from memory. */
    @Test
    void aKeyInMemoryNeedsNoFlashWait() throws IOException {
        CountDownLatch slow = new CountDownLatch(1);
        try (VarveServer server = start();
                RawClient waiting = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            other.setKeys("key:", KEYS, VALUE);
            // Otherwise maintenance might demote any key, "here" included, to keep memory free for writers.
            freeMemory(other);
            assertThat(other.call("SET", "here", "value").text()).isEqualTo("OK");
            await().until(() -> other.infoLong("flash_queue_depth") == 0);
            AtomicInteger held = new AtomicInteger();
            store().before(call -> {
                held.incrementAndGet();
                awaitQuietly(slow);
            });
            for (int i = 0; i < FIRST_KEYS; i++) {
                waiting.queue("GET", "key:" + i);
            }
            waiting.queue("GET", "here");
            waiting.flush();
            await().until(() -> held.get() > 0);
            for (int i = 0; i < 1000; i++) {
                assertThat(other.call("GET", "here").text()).isEqualTo("value");
                assertThat(other.call("SET", "here", "value").text()).isEqualTo("OK");
            }
            assertThat(other.infoLong("flash_fetches_waiting")).isNotNegative();
            slow.countDown();
            for (int i = 0; i < FIRST_KEYS; i++) {
                assertThat(waiting.read().text()).isEqualTo(VALUE + i);
            }
            assertThat(waiting.read().text()).isEqualTo("value");
        } finally {
            slow.countDown();
        }
    }

    private static String[] getFirstKeys() {
        return Stream.concat(Stream.of("MGET"), IntStream.range(0, FIRST_KEYS).mapToObj(i -> "key:" + i))
                .toArray(String[]::new);
    }

    /** Deletes the latest keys, most of which are in memory. */
    private static void freeMemory(RawClient client) throws IOException {
        for (int i = KEYS - FREED_KEYS; i < KEYS; i++) {
            client.queue("DEL", "key:" + i);
        }
        client.flush();
        for (int i = 0; i < FREED_KEYS; i++) {
            assertThat(client.read().integer()).isOne();
        }
    }

    /**
     * The recorded absence of a key in another database does not apply to another key, while flash does not know its
     * keys yet.
     */
    @Test
    void queuedMovesFetchTheirOwnKeys() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.setKeys("key:", KEYS, VALUE);
        }
        opened = hooked -> hooked.before(call -> {
            if (call.equals("walk") && Thread.currentThread().getName().equals("varve-flash-keeper")) {
                throw new StoreException(StoreException.Kind.FAILED, "no walk, for the test", null);
            }
        });
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.call("SELECT", "3");
            client.call("SET", "second", "old of 3");
            client.call("SELECT", "0");
            client.call("SET", "first", "x");
            client.call("SET", "second", "y");
            client.setKeys("more:", KEYS, VALUE);
            assertThat(client.infoLong("flash_complete")).isZero();
            client.queue("MOVE", "first", "3");
            client.queue("MOVE", "second", "3");
            client.flush();
            assertThat(client.read().integer()).isOne();
            assertThat(client.read().integer()).isZero();
            client.call("SELECT", "3");
            assertThat(client.call("GET", "second").text()).isEqualTo("old of 3");
        }
    }

    /** FLUSHALL waits for the keeper, and nobody waits for FLUSHALL: an element pushed meanwhile serves its client. */
    @Test
    void blockedClientsAreServedWhileFlashIsEmptied() throws IOException {
        CountDownLatch slow = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        try (VarveServer server = start();
                RawClient emptying = new RawClient(server.port());
                RawClient waiting = new RawClient(server.port());
                RawClient pushing = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            await().until(() -> other.infoLong("flash_complete") == 1);
            store().before(call -> {
                if (call.equals("walk") && Thread.currentThread().getName().equals("varve-flash-keeper")) {
                    held.countDown();
                    awaitQuietly(slow);
                }
            });
            assertThat(emptying.call("FLUSHALL").text()).isEqualTo("OK");
            awaitQuietly(held);
            waiting.queue("BLPOP", "k", "0");
            waiting.flush();
            await().until(() -> other.infoLong("blocked_clients") == 1);
            emptying.queue("FLUSHALL");
            emptying.flush();
            await().until(() -> other.infoLong("blocked_clients") == 2);
            assertThat(pushing.call("RPUSH", "k", "x").integer()).isOne();
            assertThat(waiting.read().elements().get(1).text()).isEqualTo("x");
            // Other clients are served, including those that fetch.
            for (int i = 0; i < 100; i++) {
                assertThat(other.call("RPUSH", "not waited for", "x").integer()).isEqualTo(i + 1);
            }
            assertThat(other.call("DBSIZE").integer()).isOne();
            assertThat(emptying.isAnswered()).isFalse();
            slow.countDown();
            assertThat(emptying.read().text()).isEqualTo("OK");
            assertThat(other.call("DBSIZE").integer()).isZero();
        } finally {
            slow.countDown();
        }
    }

    /** A client that disconnects while flash fetches its keys leaves nothing behind. */
    @Test
    void aWaitingClientMayDisconnect() throws IOException {
        CountDownLatch slow = new CountDownLatch(1);
        try (VarveServer server = start(); RawClient other = new RawClient(server.port())) {
            other.setKeys("key:", KEYS, VALUE);
            await().until(() -> other.infoLong("flash_queue_depth") == 0);
            AtomicInteger held = new AtomicInteger();
            store().before(call -> {
                held.incrementAndGet();
                awaitQuietly(slow);
            });
            try (RawClient leaving = new RawClient(server.port())) {
                leaving.queue(getFirstKeys());
                leaving.flush();
                await().until(() -> held.get() > 0);
            }
            await().until(() -> other.infoLong("connected_clients") == 1);
            slow.countDown();
            assertThat(other.call(getFirstKeys()).elements()).extracting(RawReply::text)
                    .containsExactlyElementsOf(IntStream.range(0, FIRST_KEYS).mapToObj(i -> VALUE + i).toList());
        } finally {
            slow.countDown();
        }
    }

    @Test
    void aFullDiskStopsOnlyDemotion() throws IOException {
        AtomicBoolean full = new AtomicBoolean();
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.setKeys("key:", KEYS, VALUE);
            store().before(call -> {
                if (full.get() && call.equals("put")) {
                    throw new StoreException(StoreException.Kind.FULL, "no room, for the test", null);
                }
            });
            full.set(true);
            client.setKeys("more:", KEYS, VALUE);
            assertThat(client.info("flash_status")).isEqualTo("takes nothing");
            assertThat(client.infoLong("flash_shed")).isPositive();
            assertThat(client.call("GET", "more:" + (KEYS - 1)).text()).isEqualTo(VALUE + (KEYS - 1));
            full.set(false);
            long written = client.infoLong("flash_written");
            AtomicInteger round = new AtomicInteger();
            await().until(() -> {
                client.setKeys("again " + round.incrementAndGet() + ":", 2000, VALUE);
                return client.infoLong("flash_written") > written;
            });
            assertThat(client.info("flash_status")).isEqualTo("ok");
        }
    }

    /** If flash can be neither read nor written, clients are served from memory, and none waits forever. */
    @Test
    void aBrokenStoreDelaysNoClient() throws IOException {
        AtomicBoolean broken = new AtomicBoolean();
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            client.setKeys("key:", KEYS, VALUE);
            await().until(() -> client.infoLong("flash_queue_depth") == 0);
            store().before(_ -> {
                if (broken.get()) {
                    throw new StoreException(StoreException.Kind.BROKEN, "broken, for the test", null);
                }
            });
            broken.set(true);
            int there = 0;
            for (int i = 0; i < KEYS; i += 7) {
                RawReply reply = client.call("GET", "key:" + i);
                assertThat(reply.isNull() || reply.text().equals(VALUE + i)).isTrue();
                there += reply.isNull() ? 0 : 1;
                assertThat(client.call("SET", "key:" + i, "new").text()).isEqualTo("OK");
            }
            assertThat(there).as("what memory had").isLessThan(KEYS / 7);
            assertThat(client.infoLong("flash_given_up")).isPositive();
            broken.set(false);
        }
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < KEYS; i += 7) {
                RawReply reply = client.call("GET", "key:" + i);
                assertThat(reply.isNull() || reply.text().equals("new")).as("key:%d is %s", i, reply).isTrue();
            }
        }
    }
}
