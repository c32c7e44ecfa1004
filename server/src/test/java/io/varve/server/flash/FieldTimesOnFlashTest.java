package io.varve.server.flash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

import io.varve.flash.tier.FlashTierStats;
import io.varve.server.testing.DemotingServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that hashes keep their fields' expiry times while they are constantly demoted to flash and restored. Confined
 * to the test's thread.
 */
class FieldTimesOnFlashTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int STEPS = 4_000;
    private static final int KEYS = 300;
    private static final int FIELDS = 8;
    private static final long NEVER = -1;
    private static final long NO_FIELD = -2;
    /** In the year 2100. */
    private static final long LATER = 4_102_444_800_000L;

    @TempDir
    Path directory;

    private final Map<String, Map<String, Long>> model = new HashMap<>();
    private DemotingServer varve;

    @BeforeEach
    void start() throws IOException {
        varve = new DemotingServer(servers, directory);
    }

    @AfterEach
    void stop() throws InterruptedException {
        varve.stop();
    }

    @Test
    void fieldTimesSurviveDemotionAndPromotion() throws IOException {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        try (RawClient client = new RawClient(varve.port())) {
            for (int i = 0; i < STEPS; i++) {
                step(client, random, "h" + random.nextInt(KEYS), "f" + random.nextInt(FIELDS));
            }
            for (int i = 0; i < KEYS; i++) {
                compare(client, "h" + i);
            }
        }
        FlashTierStats stats = varve.stats();
        assertThat(stats.promotions()).as("promotions: %s", stats).isGreaterThan(STEPS / 20);
        assertThat(stats.shed() + stats.invalidations()).isZero();
        assertThat(varve.cache().checkIntegrity()).isEmpty();
    }

    private void step(RawClient client, SplittableRandom random, String key, String field) throws IOException {
        Map<String, Long> hash = model.computeIfAbsent(key, _ -> new TreeMap<>());
        boolean there = hash.containsKey(field);
        long time = hash.getOrDefault(field, NO_FIELD);
        switch (random.nextInt(6)) {
            case 0 -> {
                assertThat(client.call("HSET", key, field, "v").integer()).isEqualTo(there ? 0 : 1);
                hash.put(field, NEVER);
            }
            case 1, 2 -> {
                long at = LATER + random.nextInt(1_000_000);
                assertThat(one(client.call("HPEXPIREAT", key, Long.toString(at), "FIELDS", "1", field)))
                        .isEqualTo(there ? 1 : NO_FIELD);
                hash.computeIfPresent(field, (_, _) -> at);
            }
            case 3 -> {
                assertThat(one(client.call("HPERSIST", key, "FIELDS", "1", field)))
                        .isEqualTo(there && time != NEVER ? 1 : time);
                hash.computeIfPresent(field, (_, _) -> NEVER);
            }
            case 4 -> {
                assertThat(one(client.call("HEXPIREAT", key, "1", "LT", "FIELDS", "1", field)))
                        .isEqualTo(there ? 2 : NO_FIELD);
                hash.remove(field);
            }
            default -> assertThat(client.call("HLEN", key).integer()).isEqualTo(hash.size());
        }
    }

    private static long one(RawReply reply) {
        assertThat(reply.elements()).hasSize(1);
        return reply.elements().getFirst().integer();
    }

    private void compare(RawClient client, String key) throws IOException {
        List<String> words = new ArrayList<>(List.of("HPEXPIRETIME", key, "FIELDS", Integer.toString(FIELDS)));
        List<Long> expected = new ArrayList<>();
        for (int i = 0; i < FIELDS; i++) {
            words.add("f" + i);
            expected.add(model.getOrDefault(key, Map.of()).getOrDefault("f" + i, NO_FIELD));
        }
        assertThat(client.call(words.toArray(String[]::new)).elements().stream().map(RawReply::integer)).as(key)
                .isEqualTo(expected);
    }
}
