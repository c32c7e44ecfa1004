package io.varve.server.blocking;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Change;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.shard.ShardSet;
import io.varve.server.blocking.PopRunner.Result;
import io.varve.server.config.ServerConfig;
import io.varve.server.keys.HeapKey;
import io.varve.server.testing.StubCache;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which clients are served, in which order, and which shards their moves reach. Confined to the test's thread.
 */
class BlockedKeysTest {
    private final Arena arena = Arena.ofConfined();
    private final CacheConfig config = ServerConfig.defaults().with("maxmemory", "64mb").cacheConfig();
    private final Cache cache = StubCache.create(config);
    private final BlockedKeys blocked = new BlockedKeys(cache);
    private final ReadyKeys ready = new ReadyKeys();
    private final Lists lists = new Lists();
    private final Map<BlockedClient, String> names = new HashMap<>();
    private final List<BlockedClient> all = new ArrayList<>();
    /** Names of clients whose wait has ended or that are to re-run, in order. */
    private final List<String> woken = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        all.forEach(blocked::remove);
        assertThat(blocked.keyCount()).isZero();
        assertThat(blocked.isAnyWaiting()).isFalse();
        assertThat(blocked.isAnyMoving()).isFalse();
        arena.close();
    }

    /** Lists by name that hold a number of elements; pops that take one. Confined to the test's thread. */
    private final class Lists implements PopRunner {
        private final Map<HeapKey, Integer> sizes = new HashMap<>();
        private final Map<HeapKey, ItemType> types = new HashMap<>();
        /** Results for clients whose pops do not run. */
        private final Map<BlockedClient, Result> results = new HashMap<>();
        private final List<String> served = new ArrayList<>();
        private @Nullable HeapKey opened;

        @Override
        public boolean open(HeapKey key) {
            opened = key;
            return !key.name().equals("long");
        }

        @Override
        public @Nullable ItemType type() {
            return sizes.getOrDefault(opened, 0) == 0 ? null : types.getOrDefault(opened, ItemType.LIST);
        }

        @Override
        public Result pop(BlockedClient client) {
            Result result = results.get(client);
            if (result != null) {
                return result;
            }
            HeapKey key = Objects.requireNonNull(opened);
            served.add(names.get(client) + " " + key.name());
            sizes.merge(key, -1, Integer::sum);
            HeapKey target = client.target();
            if (target != null) {
                push(target.name(), 1);
            }
            return sizes.getOrDefault(key, 0) == 0 ? Result.SERVED_LAST : Result.SERVED;
        }
    }

    private BlockedClient waits(String name, ItemType type, @Nullable String target, String... keys) {
        List<HeapKey> awaited = Arrays.stream(keys).map(key -> new HeapKey(0, key)).toList();
        BlockedClient client = new BlockedClient(type, awaited, target == null ? null : new HeapKey(0, target),
                target == null ? -1 : shard(target), Long.MAX_VALUE, 0, false);
        blocked.add(client);
        names.put(client, name);
        all.add(client);
        blocked.onWake(client, () -> woken.add(name));
        return client;
    }

    private BlockedClient waits(String name, String... keys) {
        return waits(name, ItemType.LIST, null, keys);
    }

    private BlockedClient moves(String name, String from, String to) {
        return waits(name, ItemType.LIST, to, from);
    }

    private static int shard(String key) {
        return key.charAt(0) - 'a';
    }

    private Key key(String name) {
        Key key = new Key();
        key.bind(arena.allocateFrom(name).address(), name.length(), 0, 0, 0);
        return key;
    }

    private void changes(Change change, int database, String name) {
        Key key = key(name);
        blocked.changed(change, 0, 1, database, key.address(), key.length());
    }

    /** As a command does under its locks. */
    private void push(String name, int count) {
        lists.sizes.merge(new HeapKey(0, name), count, Integer::sum);
        changes(Change.SET, 0, name);
    }

    /** Runs a command, and compares who was served by it from which key. */
    private void serves(Runnable command, String... expected) {
        blocked.collect(ready);
        command.run();
        blocked.serve(ready, lists);
        assertThat(lists.served).containsExactly(expected);
        assertThat(ready.isEmpty()).isTrue();
        lists.served.clear();
    }

    private void takeWoken(String... expected) {
        assertThat(woken).containsExactly(expected);
        woken.clear();
    }

    @Test
    void clientsAreServedInOrderOfArrival() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        serves(() -> {
            changes(Change.DELETED, 0, "k");
            changes(Change.EXPIRY_SET, 0, "k");
            changes(Change.SET, 1, "k");
            changes(Change.SET, -1, "k");
            push("other", 1);
        });
        takeWoken();
        serves(() -> push("k", 1), "a k");
        takeWoken("a");
        assertThat(blocked.endReason(a)).isEqualTo(BlockedClient.End.SERVED);
        assertThat(blocked.endReason(b)).isNull();
        serves(() -> push("k", 2), "b k");
        assertThat(blocked.keyCount()).isZero();
    }

    @Test
    void aKeyServesAsManyClientsAsItHasElements() {
        waits("a", "k");
        waits("b", "k");
        waits("c", "k");
        serves(() -> push("k", 2), "a k", "b k");
        assertThat(blocked.keyCount()).isOne();
    }

    @Test
    void aClientOfSeveralKeys_isServedOnce_fromTheFirstChangedKey() {
        waits("a", "k", "l", "k");
        waits("b", "l");
        serves(() -> {
            push("l", 1);
            push("k", 1);
            push("l", 1);
        }, "a l", "b l");
        assertThat(blocked.keyCount()).isZero();
    }

    @Test
    void aKeyThatIsGoneWhenTheCommandEnds_servesNobody() {
        waits("a", "k");
        serves(() -> {
            push("k", 1);
            lists.sizes.clear();
        });
        takeWoken();
    }

    @Test
    void clientsOfAnotherType_keepTheirPlaces() {
        waits("list", "k");
        waits("set", ItemType.SORTED_SET, null, "k");
        waits("later", "k");
        lists.types.put(new HeapKey(0, "k"), ItemType.SORTED_SET);
        serves(() -> push("k", 2), "set k");
        lists.types.clear();
        lists.sizes.clear();
        serves(() -> push("k", 2), "list k", "later k");
    }

    @Test
    void movedElements_serveTheirTargetsInTheNextRound() {
        moves("first", "a", "b");
        waits("second", "b", "c");
        waits("third", "c");
        serves(() -> {
            push("a", 1);
            push("c", 2);
        }, "first a", "second c", "third c");
        assertThat(lists.sizes).containsEntry(new HeapKey(0, "b"), 1);
    }

    @Test
    void aKeyOfTheSameRound_isNotServedTwice() {
        moves("first", "a", "b");
        waits("second", "b");
        waits("third", "b");
        serves(() -> {
            push("a", 1);
            push("b", 1);
        }, "first a", "second b", "third b");
    }

    @Test
    void aCycleOfMoves_ends() {
        moves("x", "a", "b");
        moves("y", "b", "a");
        moves("z", "a", "a");
        serves(() -> push("a", 1), "x a", "y b", "z a");
        assertThat(lists.sizes).containsEntry(new HeapKey(0, "a"), 1);
    }

    @Test
    void aPopThatCannotRun_wakesItsClient_andTheNextIsServed() {
        BlockedClient a = waits("a", "k");
        BlockedClient killed = waits("killed", "k");
        BlockedClient b = waits("b", "k");
        lists.results.put(a, Result.RERUN);
        lists.results.put(killed, Result.SKIPPED);
        serves(() -> push("k", 1), "b k");
        takeWoken("a", "b");
        assertThat(blocked.endReason(b)).isEqualTo(BlockedClient.End.SERVED);
        // It is woken again if that happened before it waits.
        blocked.onWake(a, () -> woken.add("a again"));
        takeWoken("a again");
        assertThat(blocked.beginRerun(a)).isTrue();
        blocked.onWake(a, () -> woken.add("a"));
        takeWoken();
        lists.results.clear();
        blocked.remove(killed);
        serves(() -> push("k", 1), "a k");
        assertThat(blocked.beginRerun(a)).as("it was served before it had its locks").isFalse();
    }

    @Test
    void aPopThatFindsNothing_endsTheServiceOfItsKey() {
        BlockedClient a = waits("a", "k");
        waits("b", "k");
        lists.results.put(a, Result.NOTHING);
        serves(() -> push("k", 2));
        takeWoken();
    }

    @Test
    void aKeyThatCannotBeOpened_wakesItsClients() {
        waits("a", "long");
        waits("b", "long");
        serves(() -> push("long", 2));
        takeWoken("a", "b");
    }

    @Test
    void changesOfAnotherThread_wakeAllClients() {
        waits("a", "k", "l");
        waits("b", "k");
        push("k", 1);
        takeWoken("a", "b");
        blocked.swapped(0, 1, (_, _) -> true);
        assertThat(woken).containsExactlyInAnyOrder("a", "a", "b");
        woken.clear();
        blocked.swapped(1, 2, (_, _) -> true);
        takeWoken();
        lists.sizes.clear();
    }

    @Test
    void aSwap_servesTheKeysOfItsDatabases() {
        waits("a", "k");
        waits("b", "none");
        lists.sizes.put(new HeapKey(0, "k"), 1);
        serves(() -> blocked.swapped(3, 0, (_, _) -> true), "a k");
        takeWoken("a");
    }

    @Test
    void aCommandThatFails_leavesNothingToServe() {
        waits("a", "k");
        blocked.collect(ready);
        push("k", 1);
        blocked.serve(ready, lists);
        assertThat(lists.served).containsExactly("a k");
        lists.served.clear();
        waits("b", "k");
        serves(() -> {});
        takeWoken("a");
    }

    @Test
    void aWaitEndsOnce() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        assertThat(blocked.end(a, BlockedClient.End.ERROR)).isTrue();
        takeWoken("a");
        assertThat(blocked.end(a, BlockedClient.End.TIMEOUT)).isFalse();
        assertThat(blocked.endReason(a)).isEqualTo(BlockedClient.End.ERROR);
        serves(() -> push("k", 1), "b k");
        assertThat(blocked.end(b, BlockedClient.End.TIMEOUT)).isFalse();
        assertThat(blocked.endReason(b)).isEqualTo(BlockedClient.End.SERVED);
        takeWoken("b");
        blocked.onWake(b, () -> woken.add("b again"));
        takeWoken("b again");
        BlockedClient c = waits("c", "k");
        blocked.remove(c);
        blocked.remove(c);
        assertThat(blocked.end(c, BlockedClient.End.TIMEOUT)).isFalse();
        assertThat(blocked.endReason(c)).isNull();
    }

    // --- reachable shards

    private ShardSet reachable(String... from) {
        ShardSet shards = new ShardSet(cache.shardCount());
        for (String name : from) {
            blocked.addReachable(key(name), shards);
        }
        return shards;
    }

    private static List<Integer> numbers(ShardSet shards) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = shards.next(0); i >= 0; i = shards.next(i + 1)) {
            numbers.add(i);
        }
        return numbers;
    }

    @Test
    void movesReachTheShardsOfTheirTargets_overSeveralKeys_inAnyDatabase() {
        waits("pops", "b", "e");
        assertThat(blocked.isAnyMoving()).isFalse();
        BlockedClient a = moves("a", "a", "b");
        moves("again", "a", "b");
        BlockedClient b = moves("b", "b", "c");
        moves("back", "c", "a");
        assertThat(blocked.isAnyMoving()).isTrue();
        assertThat(numbers(reachable("a"))).containsExactly(1, 2);
        assertThat(numbers(reachable("b"))).containsExactly(0, 2);
        assertThat(numbers(reachable("e", "d"))).isEmpty();
        Key elsewhere = key("a");
        elsewhere.bind(elsewhere.address(), 1, 0, 0, 7);
        ShardSet shards = new ShardSet(cache.shardCount());
        blocked.addReachable(elsewhere, shards);
        assertThat(numbers(shards)).containsExactly(1, 2);
        blocked.remove(a);
        assertThat(numbers(reachable("a"))).containsExactly(1, 2);
        blocked.remove(b);
        assertThat(numbers(reachable("a"))).containsExactly(1);
    }

    @Test
    void aSearchOverManyTargets_answersAllShards() {
        for (int i = 1; i <= 8; i++) {
            moves("m" + i, "a", Character.toString('a' + i));
        }
        assertThat(numbers(reachable("a"))).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
        moves("one more", "h", "p");
        assertThat(numbers(reachable("a"))).hasSize(cache.shardCount());
    }
}
