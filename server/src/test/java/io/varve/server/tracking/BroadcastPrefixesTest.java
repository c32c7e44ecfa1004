package io.varve.server.tracking;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.offheap.Memory;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.testing.StubCache;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares the search for a key's prefixes with a check of all. Confined to the test's thread. */
class BroadcastPrefixesTest {
    private static final int ROUNDS = 300;
    private static final int KEYS = 50;

    private final Cache cache = StubCache.create(CacheConfig.defaults(1 << 20));
    private final RequestHeapBudget memory = new RequestHeapBudget(1 << 20);
    private final Tracking tracking = new Tracking(cache, memory, _ -> null, 0);
    private final Subscriptions client = new Subscriptions(new Channels(memory, memory, () -> 0, memory), () -> {});

    private Tracker tracker(Set<String> prefixes) {
        return new Tracker(tracking, client, new TrackingOptions(0, true, false, false, false,
                prefixes.stream().map(prefix -> Name.of(bytes(prefix))).toList()));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static boolean hasSubscribers(BroadcastPrefixes broadcasts, String key) {
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = bytes(key);
            long address = arena.allocate(Math.max(1, bytes.length)).address();
            Memory.copy(bytes, 0, address, bytes.length);
            return broadcasts.hasSubscribers(address, bytes.length);
        }
    }

    /** A text of few letters, so that many begin with others. */
    private static String text(SplittableRandom random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
            text.append("ab\u00ff".charAt(random.nextInt(3)));
        }
        return text.toString();
    }

    @Test
    void aKeyIsSentToTheTrackersOfItsPrefixes() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        Map<Tracker, Set<String>> all = new HashMap<>();
        BroadcastPrefixes broadcasts = BroadcastPrefixes.NONE;
        for (int round = 0; round < ROUNDS; round++) {
            if (!all.isEmpty() && random.nextInt(3) == 0) {
                Tracker gone = all.keySet().iterator().next();
                broadcasts = broadcasts.without(gone);
                all.remove(gone);
            } else {
                Set<String> prefixes = new TreeSet<>();
                for (int i = 1 + random.nextInt(3); i > 0; i--) {
                    prefixes.add(text(random));
                }
                Tracker comes = tracker(prefixes);
                all.put(comes, prefixes);
                broadcasts = broadcasts.with(comes);
            }
            assertThat(broadcasts.prefixCount())
                    .isEqualTo((int) all.values().stream().flatMap(Set::stream).distinct().count());
            for (int i = 0; i < KEYS; i++) {
                String key = text(random);
                List<Tracker> expected = new ArrayList<>();
                all.forEach((tracker, prefixes) -> prefixes.stream().filter(key::startsWith)
                        .forEach(_ -> expected.add(tracker)));
                List<Tracker> reported = new ArrayList<>();
                BroadcastPrefixes now = broadcasts;
                now.forEachPlaceOf(bytes(key), place -> reported.addAll(now.trackersAt(place)));
                assertThat(reported).as("%s of %s", key, all.values()).containsExactlyInAnyOrderElementsOf(expected);
                assertThat(hasSubscribers(broadcasts, key)).as("%s of %s", key, all.values())
                        .isEqualTo(!expected.isEmpty());
            }
        }
    }
}
