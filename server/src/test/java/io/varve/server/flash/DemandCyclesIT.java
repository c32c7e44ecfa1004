package io.varve.server.flash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.TierFiles;
import io.varve.memory.Cache;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.ServerOverFlash;
import io.varve.server.testing.SettableTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests a class of keys that clients request by day and that spends its nights on flash. Confined to the test's thread.
 * The test controls the clock.
 */
@Timeout(120)
class DemandCyclesIT {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int KEYS = 1000;
    private static final int SLOT_MILLIS = 60_000;
    private static final int PHASE = 4;
    /** Keys with which one client does what it likes, whatever the time. */
    private static final int RESTLESS = 100;
    /** So many misses wake a class. */
    private static final int MISSES = 100;

    @TempDir
    Path directory;

    private final SettableTicker clock = new SettableTicker();
    private Cache cache;
    private VarveServer server;
    private RawClient daily;
    private RawClient always;

    @BeforeEach
    void start() throws IOException {
        ServerConfig config = ServerExtension.config("io-threads 1", "maxmemory 64mb", "shards 4",
                "maxmemory-policy allkeys-penalty", "flash-dir " + directory.toString(), "demand-cycles yes",
                "demand-duration 2", "demand-history 60");
        TierFiles files = TierFiles.open(directory, at -> JeStore.open(at, JeSettings.of(8 << 20)),
                config.cacheConfig().databases(), false, clock.wallMillis());
        cache = Cache.open(config.cacheConfig().withHashSeed(files.hashSeed()).withTicker(clock));
        server = servers.start(config,
                new Tiers(cache, FlashTier.start(files, cache, config.flashSettings())));
        daily = new RawClient(server.port());
        always = new RawClient(server.port());
        assertThat(daily.call("VARVE.CLASS", "DEFAULT", "9").text()).isEqualTo("OK");
        assertThat(always.call("VARVE.CLASS", "DEFAULT", "5").text()).isEqualTo("OK");
    }

    @AfterEach
    void stop() throws IOException {
        daily.close();
        always.close();
        server.close();
    }

    private void fill() throws IOException {
        for (int i = 0; i < KEYS; i++) {
            daily.queue("SET", "daily:" + i, "value " + i);
            always.queue("SET", "always:" + i, "value " + i);
        }
        daily.flush();
        always.flush();
        for (int i = 0; i < KEYS; i++) {
            assertThat(daily.read().text()).isEqualTo("OK");
            assertThat(always.read().text()).isEqualTo("OK");
        }
    }

    private static void read(RawClient client, String prefix, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            client.queue("GET", prefix + i);
        }
        client.flush();
        for (int i = from; i < to; i++) {
            assertThat(client.read().text()).isEqualTo("value " + i);
        }
    }

    private void slots(int count, boolean isDay) throws IOException {
        for (int i = 0; i < count; i++) {
            read(always, "always:", 0, KEYS / 2);
            if (isDay) {
                read(daily, "daily:", 0, KEYS);
            }
            endSlot();
        }
    }

    private void endSlot() throws IOException {
        long ended = always.infoLong("demand_slots");
        clock.pass(SLOT_MILLIS);
        await("demand_slots", slots -> slots > ended);
    }

    private void await(String field, LongPredicate right) {
        ServerOverFlash.await(() -> right.test(always.infoLong(field)));
    }

    private void toTheSecondNight() throws IOException {
        fill();
        slots(PHASE, true);
        slots(PHASE, false);
        slots(PHASE, true);
        slots(1, false);
        assertThat(always.infoLong("demand_dumps")).isZero();
        assertThat(always.infoLong("flash_items")).isZero();
        slots(1, false);
        await("demand_dumped_items", items -> items == KEYS);
        await("demand_dumping", dumping -> dumping == 0);
        await("flash_written", written -> written == KEYS);
    }

    @Test
    void theClassIsDumpedAtNightAndLoadedInTheMorning() throws IOException {
        toTheSecondNight();
        assertThat(always.infoLong("demand_dumps")).isOne();
        assertThat(always.infoLong("flash_items")).isEqualTo(KEYS);
        assertThat(always.info("demand_class9")).startsWith("state=dumped,periodic=1,interval_slots=" + 2 * PHASE);
        assertThat(always.call("DBSIZE").integer()).isEqualTo(2 * KEYS);
        read(always, "always:", 0, KEYS);
        assertThat(always.infoLong("flash_promotions")).as("others are where they were").isZero();

        for (int i = 0; i < 20; i++) {
            assertThat(daily.call("SET", "daily:" + i, "new").text()).isEqualTo("OK");
            assertThat(daily.call("DEL", "daily:" + (20 + i)).integer()).isOne();
        }
        slots(1, false);
        assertThat(always.infoLong("demand_loads")).isZero();

        read(daily, "daily:", 40, 40 + 2 * MISSES);
        await("demand_loads", loads -> loads == 1);
        await("flash_loading", loading -> loading == 0);
        await("flash_items", items -> items == 0);
        assertThat(always.info("demand_class9")).startsWith("state=awake");
        // Some of the keys requested after the hundredth miss may have been loaded first.
        assertThat(always.infoLong("flash_loaded")).isBetween(KEYS - 40L - 2 * MISSES, KEYS - 40L);
        assertThat(always.infoLong("flash_promotions")).isEqualTo(KEYS);

        read(daily, "daily:", 40, KEYS);
        for (int i = 0; i < 20; i++) {
            assertThat(daily.call("GET", "daily:" + i).text()).isEqualTo("new");
            assertThat(daily.call("EXISTS", "daily:" + (20 + i)).integer()).isZero();
        }
        assertThat(always.infoLong("flash_promotions")).as("nothing more had to be fetched").isEqualTo(KEYS);
        assertThat(always.infoLong("evicted_keys")).isZero();
        assertThat(always.call("DBSIZE").integer()).isEqualTo(2 * KEYS - 20L);
    }

    private static boolean work(RawClient client, Map<Integer, String> expected, SplittableRandom random)
            throws IOException {
        for (int i = 0; i < 30; i++) {
            int number = random.nextInt(RESTLESS);
            String key = "daily:" + number;
            int what = random.nextInt(10);
            if (what < 5) {
                RawReply reply = client.call("GET", key);
                assertThat(reply.isNull() ? null : reply.text()).as(key).isEqualTo(expected.get(number));
            } else if (what < 8) {
                String value = Long.toString(random.nextLong());
                assertThat(client.call("SET", key, value).text()).isEqualTo("OK");
                expected.put(number, value);
            } else {
                assertThat(client.call("DEL", key).integer()).isEqualTo(expected.remove(number) == null ? 0 : 1);
            }
        }
        return true;
    }

    /** A client that writes and deletes while the class is demoted and loaded, night after night, sees one map. */
    @Test
    void clientsSeeOneMapDuringDumpsAndLoads() throws Exception {
        SplittableRandom random = new SplittableRandom(19);
        Map<Integer, String> expected = new HashMap<>();
        fill();
        for (int i = 0; i < RESTLESS; i++) {
            expected.put(i, "value " + i);
        }
        try (RawClient restless = new RawClient(server.port());
                ExecutorService background = Executors.newSingleThreadExecutor()) {
            assertThat(restless.call("VARVE.CLASS", "DEFAULT", "9").text()).isEqualTo("OK");
            for (int slot = 0; slot < 10 * PHASE; slot++) {
                boolean isDay = slot / PHASE % 2 == 0;
                boolean isMorning = isDay && slot % PHASE == 0;
                Future<Boolean> busy = background.submit(() -> work(restless, expected, random));
                read(always, "always:", 0, KEYS / 2);
                if (isMorning) {
                    // Nothing is found in between: these are the misses that wake the class, if it sleeps.
                    assertThat(busy.get(1, TimeUnit.MINUTES)).isTrue();
                    read(daily, "daily:", RESTLESS, RESTLESS + 2 * MISSES);
                    busy = background.submit(() -> work(restless, expected, random));
                    await("flash_items", items -> items == 0);
                } else if (isDay) {
                    read(daily, "daily:", RESTLESS, KEYS);
                }
                endSlot();
                assertThat(busy.get(1, TimeUnit.MINUTES)).isTrue();
            }
        }
        assertThat(always.infoLong("demand_dumps")).isGreaterThanOrEqualTo(3);
        assertThat(always.infoLong("demand_loads")).isGreaterThanOrEqualTo(2);
        assertThat(always.infoLong("flash_loaded")).isGreaterThan(KEYS / 2);
        assertThat(always.infoLong("flash_shed")).isZero();
        assertThat(always.infoLong("evicted_keys")).isZero();
        for (int i = 0; i < RESTLESS; i++) {
            RawReply reply = daily.call("GET", "daily:" + i);
            assertThat(reply.isNull() ? null : reply.text()).isEqualTo(expected.get(i));
        }
        read(daily, "daily:", RESTLESS, KEYS);
        read(always, "always:", 0, KEYS);
        assertThat(always.call("DBSIZE").integer()).isEqualTo(2 * KEYS - RESTLESS + expected.size());
        assertThat(cache.checkIntegrity()).isEmpty();
    }

    @Test
    void switchedOffAtNightTheKeysAreStillThere() throws IOException {
        toTheSecondNight();
        assertThat(always.call("CONFIG", "SET", "demand-cycles", "no").text()).isEqualTo("OK");
        assertThat(always.infoLong("demand_cycles")).isZero();
        read(daily, "daily:", 0, KEYS);
        assertThat(always.infoLong("flash_loaded")).isZero();
        assertThat(always.infoLong("flash_promotions")).isEqualTo(KEYS);
    }

    @Test
    void numbersThatDoNotFitTogetherAreRefused() throws IOException {
        RawReply refused = always.call("CONFIG", "SET", "demand-duration", "50");
        assertThat(refused.isError()).isTrue();
        assertThat(refused.text()).contains("demand-duration 50", "two and a half times");
        assertThat(always.call("CONFIG", "SET", "demand-slot-ms", "99").isError()).isTrue();
        assertThat(always.call("CONFIG", "SET", "demand-duration", "3").text()).isEqualTo("OK");
        assertThat(always.infoLong("demand_slots")).as("it starts over").isZero();
    }
}
