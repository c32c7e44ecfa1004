package io.varve.server.blocking;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Change;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.blocking.BlockedKeys.Unblocking;
import io.varve.server.config.ServerConfig;
import io.varve.server.keys.HeapKey;
import io.varve.server.testing.StubCache;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which client is woken, and when, and which keys are reserved meanwhile. Confined to the test's thread. */
class BlockedKeysTest {
    private final Arena arena = Arena.ofConfined();
    private final CacheConfig config = ServerConfig.defaults().with("maxmemory", "64mb").cacheConfig();
    private final Cache cache = StubCache.create(config);
    private final BlockedKeys blocked = new BlockedKeys(cache, false);
    /** Names of those that were woken, in order. */
    private final List<String> woken = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        assertThat(blocked.keyCount()).isZero();
        assertThat(blocked.isAnyDelayed()).isFalse();
        arena.close();
    }

    private BlockedClient waits(String name, ItemType type, String... keys) {
        List<HeapKey> names = Arrays.stream(keys).map(key -> new HeapKey(0, key)).toList();
        BlockedClient blockedClient = new BlockedClient(type, names, null, Long.MAX_VALUE, 0);
        blocked.add(blockedClient);
        findsNothing(name, blockedClient);
        return blockedClient;
    }

    private BlockedClient waits(String name, String... keys) {
        return waits(name, ItemType.LIST, keys);
    }

    private void findsNothing(String name, BlockedClient blockedClient) {
        blocked.onWake(blockedClient, () -> woken.add(name));
    }

    private Key key(String name) {
        Key key = new Key();
        key.bind(arena.allocateFrom(name).address(), name.length(), 0, 0, 0);
        return key;
    }

    private void changes(String name) {
        changes(Change.SET, 0, name);
    }

    private void changes(Change change, int database, String name) {
        Key key = key(name);
        blocked.changed(change, 0, 1, database, key.address(), key.length());
    }

    private boolean isReserved(String name) {
        return blocked.isDelayed(key(name));
    }

    /** @return the place of a command that waits for the key's release; null if it does not have to wait */
    private @Nullable BarrierWaiter behind(String name, Runnable action) {
        BarrierWaiter barrierWaiter = new BarrierWaiter(BarrierWaiter.Kind.CALL);
        return blocked.runWhenReleased(key(name), barrierWaiter, action) ? barrierWaiter : null;
    }

    private void takeWoken(String... names) {
        assertThat(woken).containsExactly(names);
        woken.clear();
    }

    @Test
    void clientsAreCalledInOrderOfArrival() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        changes("other");
        changes(Change.DELETED, 0, "k");
        changes(Change.EXPIRY_SET, 0, "k");
        changes(Change.SET, 1, "k");
        changes(Change.SET, -1, "k");
        takeWoken();
        assertThat(isReserved("k")).isFalse();
        changes("k");
        takeWoken("a");
        assertThat(isReserved("k")).isTrue();
        assertThat(isReserved("other")).isFalse();
        assertThat(blocked.nextKeyToCheck(a)).isZero();
        assertThat(blocked.nextKeyToCheck(b)).isEqualTo(-1);
        blocked.removeClient(a, true);
        takeWoken();
        assertThat(isReserved("k")).isFalse();
        changes("k");
        takeWoken("b");
        blocked.removeClient(b, true);
    }

    @Test
    void aDeferredClientKeepsItsPlaceWhileOthersAreCalled() {
        BlockedClient a = waits("a", "k", "big");
        BlockedClient b = waits("b", "k");
        BlockedClient c = waits("c", "k");
        changes("k");
        takeWoken("a");
        blocked.defer(a);
        takeWoken("b");
        assertThat(isReserved("k")).isTrue();
        blocked.removeClient(b, true);
        assertThat(isReserved("k")).isFalse();
        // It re-runs, and again there is no memory.
        findsNothing("a", a);
        assertThat(blocked.retryDeferred(a)).isTrue();
        takeWoken("a");
        blocked.defer(a);
        changes("k");
        takeWoken("c");
        blocked.resumeWaiting(c, ItemType.HASH);
        findsNothing("c", c);
        takeWoken();
        assertThat(isReserved("k")).isFalse();
        // Now there is.
        assertThat(blocked.nextKeyToCheck(a)).isZero();
        takeWoken("a");
        assertThat(isReserved("k")).isTrue();
        blocked.removeClient(a, false);
        takeWoken("c");
        blocked.removeClient(c, false);
    }

    @Test
    void aSingleDeferredClientDelaysNoCommand() {
        BlockedClient a = waits("a", "k");
        List<String> done = new ArrayList<>();
        changes("k");
        behind("k", () -> done.add("behind"));
        blocked.defer(a);
        assertThat(done).containsExactly("behind");
        changes("k");
        takeWoken("a");
        assertThat(isReserved("k")).isFalse();
        blocked.removeClient(a, false);
    }

    /**
     * The consequences of a command are due after existing reservations, even for a client that is deferred by then.
     */
    @Test
    void aDueKeyOfADeferredClientDelaysNoCommand() {
        BlockedClient a = waits("a", "k", "l");
        BlockedClient b = waits("b", "l");
        changes("l");
        blocked.defer(a);
        takeWoken("a", "b");
        changes("k");
        blocked.removeClient(b, true);
        assertThat(isReserved("k")).isFalse();
        assertThat(isReserved("l")).isFalse();
        takeWoken();
        blocked.removeClient(a, false);
    }

    @Test
    void aDelayedCommandThatLeavesIsNotWoken() {
        BlockedClient a = waits("a", "k");
        List<String> done = new ArrayList<>();
        changes("k");
        BarrierWaiter gone = behind("k", () -> done.add("gone"));
        behind("k", () -> done.add("stays"));
        blocked.removeWaiter(java.util.Objects.requireNonNull(gone));
        takeWoken("a");
        blocked.removeClient(a, true);
        assertThat(done).containsExactly("stays");
    }

    @Test
    void remainingElementsServeTheNextClient() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        BlockedClient c = waits("c", "k");
        changes("k");
        takeWoken("a");
        blocked.removeClient(a, false);
        takeWoken("b");
        assertThat(isReserved("k")).isTrue();
        blocked.removeClient(b, true);
        takeWoken();
        assertThat(isReserved("k")).isFalse();
        blocked.removeClient(c, false);
    }

    @Test
    void aClientThatFindsNothingKeepsItsPlace() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        changes("k");
        blocked.resumeWaiting(a, null);
        assertThat(blocked.nextKeyToCheck(a)).isEqualTo(-1);
        findsNothing("a", a);
        takeWoken("a");
        assertThat(isReserved("k")).isFalse();
        changes("k");
        takeWoken("a");
        blocked.removeClient(a, true);
        blocked.removeClient(b, true);
    }

    @Test
    void aChangeDuringACallIsCheckedAgain() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        changes("k");
        changes("k");
        takeWoken("a");
        blocked.resumeWaiting(a, null);
        assertThat(blocked.nextKeyToCheck(a)).isZero();
        changes("k");
        takeWoken("a");
        // It has left nothing of what it saw; what came since is for the next.
        blocked.removeClient(a, true);
        takeWoken("b");
        blocked.removeClient(b, true);
    }

    @Test
    void aKeyServesOnlyClientsThatWaitForItsType() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        BlockedClient z = waits("z", ItemType.SORTED_SET, "k");
        changes("k");
        takeWoken("a");
        blocked.resumeWaiting(a, ItemType.SORTED_SET);
        takeWoken("z");
        blocked.resumeWaiting(z, ItemType.LIST);
        takeWoken("a");
        blocked.resumeWaiting(a, ItemType.STRING);
        takeWoken();
        assertThat(isReserved("k")).isFalse();
        blocked.removeClient(a, false);
        blocked.removeClient(b, false);
        blocked.removeClient(z, false);
    }

    @Test
    void oneOfManyKeysIsCalledForOnceAndTheOthersAreForOthers() {
        BlockedClient a = waits("a", "k", "l", "k");
        BlockedClient b = waits("b", "l", "k");
        assertThat(blocked.keyCount()).isEqualTo(2);
        changes("l");
        changes("k");
        takeWoken("a");
        assertThat(blocked.nextKeyToCheck(a)).isEqualTo(1);
        assertThat(isReserved("k")).isTrue();
        blocked.removeClient(a, true);
        // The list l is empty; no client has checked k.
        takeWoken("b");
        assertThat(isReserved("l")).isFalse();
        assertThat(isReserved("k")).isTrue();
        assertThat(blocked.nextKeyToCheck(b)).isEqualTo(1);
        blocked.removeClient(b, false);
    }

    @Test
    void aClientThatLeavesBeforeItsRetryLeavesAllToTheNext() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        changes("k");
        blocked.removeClient(a, false);
        blocked.removeClient(a, false);
        takeWoken("a", "b");
        blocked.removeClient(b, false);
        takeWoken();
    }

    @Test
    void aClientCalledBeforeOnWakeIsWokenAtOnce() {
        BlockedClient a = new BlockedClient(ItemType.LIST, List.of(new HeapKey(0, "k")), null, Long.MAX_VALUE, 0);
        blocked.add(a);
        changes("k");
        takeWoken();
        findsNothing("a", a);
        takeWoken("a");
        blocked.removeClient(a, true);
    }

    @Test
    void aWaitEndsOnceAndNotForACalledClient() {
        BlockedClient a = waits("a", "k");
        changes("k");
        takeWoken("a");
        assertThat(blocked.end(a, BlockedClient.End.ERROR)).isEqualTo(Unblocking.CALLED);
        assertThat(blocked.endReason(a)).isNull();
        List<String> done = new ArrayList<>();
        blocked.runWhenReleased(a, () -> done.add("unblock"));
        assertThat(done).isEmpty();
        blocked.resumeWaiting(a, null);
        assertThat(done).containsExactly("unblock");
        findsNothing("a", a);
        assertThat(blocked.end(a, BlockedClient.End.ERROR)).isEqualTo(Unblocking.ENDED);
        assertThat(blocked.end(a, BlockedClient.End.TIMEOUT)).isEqualTo(Unblocking.NOT_WAITING);
        assertThat(blocked.endReason(a)).isEqualTo(BlockedClient.End.ERROR);
        takeWoken("a");
        blocked.runWhenReleased(a, () -> done.add("at once"));
        assertThat(done).containsExactly("unblock", "at once");
        blocked.removeClient(a, false);
        assertThat(blocked.end(a, BlockedClient.End.ERROR)).isEqualTo(Unblocking.NOT_WAITING);
    }

    @Test
    void commandsBehindAReservationRunWhenItEnds() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k");
        List<String> done = new ArrayList<>();
        behind("k", () -> done.add("not promised"));
        assertThat(done).containsExactly("not promised");
        changes("k");
        behind("k", () -> done.add("one"));
        BarrierWaiter reader = new BarrierWaiter(BarrierWaiter.Kind.READ);
        assertThat(blocked.admits(reader, () -> done.add("two"))).isFalse();
        blocked.removeClient(a, false);
        assertThat(done).hasSize(1);
        blocked.removeClient(b, true);
        assertThat(done).endsWith("one", "two");
        assertThat(blocked.admits(reader, () -> done.add("admitted"))).isTrue();
        assertThat(done).hasSize(3);
    }

    @Test
    void aWaitingBarrierPreventsNewReservations() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "l");
        List<String> done = new ArrayList<>();
        BarrierWaiter all = new BarrierWaiter(BarrierWaiter.Kind.CHANGE);
        BarrierWaiter push = new BarrierWaiter(BarrierWaiter.Kind.CALL);
        changes("k");
        assertThat(blocked.admits(all, () -> done.add("all"))).isFalse();
        assertThat(isReserved("l")).isTrue();
        assertThat(isReserved("nobody waits")).isFalse();
        assertThat(blocked.runWhenReleased(key("l"), push, () -> done.add("push"))).isTrue();
        blocked.removeClient(a, true);
        assertThat(done).containsExactly("all");
        assertThat(blocked.admits(all, () -> done.add("once more"))).isTrue();
        // It changes what it changes.
        assertThat(isReserved("l")).isTrue();
        blocked.removeWaiter(all);
        assertThat(done).containsExactly("all", "push");
        assertThat(isReserved("l")).isFalse();
        changes("l");
        blocked.removeWaiter(push);
        assertThat(isReserved("l")).isTrue();
        blocked.removeClient(b, true);
        takeWoken("a", "b");
    }

    @Test
    void relatedKeysAreServedOneAfterTheOther() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "k", "l");
        BlockedClient c = waits("c", "l");
        BlockedClient simple = waits("simple", "s");
        List<String> done = new ArrayList<>();
        changes("k");
        changes("l");
        changes("s");
        changes("l");
        takeWoken("a", "simple");
        behind("l", () -> done.add("behind l"));
        blocked.removeClient(simple, true);
        assertThat(isReserved("s")).isFalse();
        blocked.removeClient(a, false);
        takeWoken("b");
        assertThat(blocked.nextKeyToCheck(b)).isZero();
        blocked.removeClient(b, true);
        takeWoken("c");
        assertThat(isReserved("k")).isFalse();
        assertThat(isReserved("l")).isTrue();
        assertThat(done).isEmpty();
        blocked.removeClient(c, false);
        assertThat(done).containsExactly("behind l");
    }

    @Test
    void noClientIsCalledForADueKeyAfterAllHaveLeft() {
        BlockedClient a = waits("a", "k", "x");
        BlockedClient b = waits("b", "l", "x");
        List<String> done = new ArrayList<>();
        changes("k");
        changes("l");
        takeWoken("a");
        behind("l", () -> done.add("behind l"));
        blocked.removeClient(b, false);
        assertThat(isReserved("l")).isTrue();
        blocked.removeClient(a, true);
        takeWoken();
        assertThat(isReserved("l")).isFalse();
        assertThat(done).containsExactly("behind l");
    }

    @Test
    void dueKeysAreServedInTheOrderOfTheirChanges() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "l");
        BlockedClient c = waits("c", "m");
        BlockedClient all = waits("all", "k", "l", "m");
        changes("k");
        changes("l");
        changes("m");
        takeWoken("a");
        blocked.removeClient(a, true);
        takeWoken("b");
        assertThat(isReserved("m")).isTrue();
        changes("k");
        takeWoken();
        blocked.removeClient(b, true);
        takeWoken("c");
        blocked.removeClient(c, true);
        takeWoken("all");
        assertThat(blocked.nextKeyToCheck(all)).isZero();
        blocked.removeClient(all, true);
    }

    /**
     * An element that a woken client moves is served before changes of other commands that came after the one that woke
     * it.
     */
    @Test
    void consequencesOfAChangeAreServedBeforeTheNextChange() {
        BlockedClient a = moves("a", "k", "m");
        BlockedClient b = waits("b", "m", "n");
        changes("k");
        changes("n");
        takeWoken("a");
        blocked.beginCause(a);
        changes("m");
        blocked.endCause();
        takeWoken();
        blocked.removeClient(a, true);
        takeWoken("b");
        assertThat(blocked.nextKeyToCheck(b)).isZero();
        blocked.removeClient(b, true);
        assertThat(isReserved("n")).isFalse();
    }

    /** But what a transaction has changed itself comes before what comes of it. */
    @Test
    void aTransactionsChangesAreServedFirst() {
        BlockedClient a = moves("a", "k", "m");
        BlockedClient b = waits("b", "m", "n");
        assertThat(blocked.beginCause()).isTrue();
        changes("k");
        changes("n");
        blocked.endCause();
        takeWoken("a");
        blocked.beginCause(a);
        changes("m");
        blocked.endCause();
        blocked.removeClient(a, true);
        takeWoken("b");
        assertThat(blocked.nextKeyToCheck(b)).isEqualTo(1);
        blocked.removeClient(b, true);
        assertThat(blocked.beginCause()).isFalse();
    }

    /** No command pushes to a key that is reserved for the only client that waits for it. */
    @Test
    void aKeyThatLeadsToAReservedKeyIsDue() {
        BlockedClient a = waits("a", "n");
        BlockedClient b = moves("b", "m", "l");
        BlockedClient c = moves("c", "l", "n");
        changes("n");
        changes("m");
        takeWoken("a");
        blocked.removeClient(a, true);
        takeWoken("b");
        blocked.removeClient(b, true);
        blocked.removeClient(c, false);
    }

    @Test
    void manyDueKeysWithoutClientsAreRemoved() {
        String[] names = new String[20_000];
        Arrays.setAll(names, i -> "key" + i);
        BlockedClient a = waits("a", names);
        for (String name : names) {
            changes(name);
        }
        takeWoken("a");
        blocked.removeClient(a, true);
        assertThat(blocked.keyCount()).isZero();
        assertThat(blocked.isAnyDelayed()).isFalse();
        BlockedClient b = waits("b", names[7]);
        changes(names[7]);
        takeWoken("b");
        blocked.removeClient(b, true);
    }

    @Test
    void aDueKeyIsRemovedOnceWhenItsLastClientLeaves() {
        BlockedClient a = waits("a", "k", "l");
        changes("k");
        changes("l");
        takeWoken("a");
        blocked.removeClient(a, true);
        assertThat(blocked.keyCount()).isZero();
        BlockedClient b = waits("b", "l");
        changes("l");
        takeWoken("b");
        blocked.removeClient(b, true);
    }

    private BlockedClient moves(String name, String from, String to) {
        BlockedClient blockedClient = new BlockedClient(ItemType.LIST, List.of(new HeapKey(0, from)),
                new HeapKey(0, to),
                Long.MAX_VALUE,
                0);
        blocked.add(blockedClient);
        findsNothing(name, blockedClient);
        return blockedClient;
    }

    @Test
    void moveTargetsAreReservedToo() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = moves("b", "k", "l");
        BlockedClient c = moves("c", "l", "m");
        BlockedClient d = moves("d", "m", "k");
        BlockedClient e = moves("e", "x", "y");
        assertThat(isReserved("m")).isFalse();
        changes("k");
        takeWoken("a");
        for (String key : new String[] {"k", "l", "m"}) {
            assertThat(isReserved(key)).as(key).isTrue();
        }
        assertThat(isReserved("x")).isFalse();
        assertThat(isReserved("y")).isFalse();
        List<String> done = new ArrayList<>();
        behind("m", () -> done.add("behind"));
        blocked.removeClient(a, false);
        takeWoken("b");
        blocked.removeClient(c, false);
        assertThat(isReserved("l")).isTrue();
        assertThat(isReserved("m")).isFalse();
        assertThat(done).isEmpty();
        blocked.removeClient(b, true);
        assertThat(isReserved("l")).isFalse();
        assertThat(done).containsExactly("behind");
        blocked.removeClient(d, false);
        blocked.removeClient(e, false);
    }

    @Test
    void swappedDatabasesWakeClients() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "l");
        blocked.swapped(3, 4, (_, _) -> true);
        takeWoken();
        blocked.swapped(3, 0, (_, _) -> true);
        assertThat(woken).containsExactlyInAnyOrder("a", "b");
        blocked.removeClient(a, true);
        blocked.removeClient(b, true);
    }

    @Test
    void keysMissingFromASwappedDatabaseWakeNoClient() {
        BlockedClient a = waits("a", "k");
        BlockedClient b = waits("b", "l");
        blocked.swapped(3, 0, (database, name) -> database == 0 && Arrays.equals(name, new byte[] {'l'}));
        takeWoken("b");
        assertThat(isReserved("k")).isFalse();
        blocked.removeClient(b, true);
        blocked.removeClient(a, false);
    }
}
