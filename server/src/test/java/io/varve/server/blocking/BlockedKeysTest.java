package io.varve.server.blocking;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.CacheConfig;
import io.varve.memory.item.Change;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.StubCache;
import io.varve.server.blocking.BlockedKeys.Unblocking;
import io.varve.server.config.ServerConfig;
import io.varve.server.keys.NamedKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Who is called, and when, and what is promised meanwhile. Confined to the test's thread. */
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
        assertThat(blocked.isAnyHeldUp()).isFalse();
        arena.close();
    }

    private Waiter waits(String name, ItemType type, String... keys) {
        List<NamedKey> names = Arrays.stream(keys).map(key -> new NamedKey(0, key)).toList();
        Waiter waiter = new Waiter(type, names, null, Long.MAX_VALUE, 0);
        blocked.add(waiter);
        goesOnWaiting(name, waiter);
        return waiter;
    }

    private Waiter waits(String name, String... keys) {
        return waits(name, ItemType.LIST, keys);
    }

    private void goesOnWaiting(String name, Waiter waiter) {
        blocked.onWake(waiter, () -> woken.add(name));
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

    private boolean isPromised(String name) {
        return blocked.isHeldUp(key(name));
    }

    /** @return the place of who waits behind the key; null if it does not have to */
    private @Nullable Pass behind(String name, Runnable action) {
        Pass pass = new Pass(Pass.Kind.CALL);
        return blocked.behind(key(name), pass, action) ? pass : null;
    }

    private void takeWoken(String... names) {
        assertThat(woken).containsExactly(names);
        woken.clear();
    }

    @Test
    void whoCameFirstIsCalledFirst() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "k");
        changes("other");
        changes(Change.DELETED, 0, "k");
        changes(Change.EXPIRY_SET, 0, "k");
        changes(Change.SET, 1, "k");
        changes(Change.SET, -1, "k");
        takeWoken();
        assertThat(isPromised("k")).isFalse();
        changes("k");
        takeWoken("a");
        assertThat(isPromised("k")).isTrue();
        assertThat(isPromised("other")).isFalse();
        assertThat(blocked.nextCall(a)).isZero();
        assertThat(blocked.nextCall(b)).isEqualTo(-1);
        blocked.leave(a, true);
        takeWoken();
        assertThat(isPromised("k")).isFalse();
        changes("k");
        takeWoken("b");
        blocked.leave(b, true);
    }

    @Test
    void whoIsPutOffKeepsItsPlaceAndOthersAreCalledMeanwhile() {
        Waiter a = waits("a", "k", "big");
        Waiter b = waits("b", "k");
        Waiter c = waits("c", "k");
        changes("k");
        takeWoken("a");
        blocked.putOff(a);
        takeWoken("b");
        assertThat(isPromised("k")).isTrue();
        blocked.leave(b, true);
        assertThat(isPromised("k")).isFalse();
        // It looks again, and again there is no room.
        goesOnWaiting("a", a);
        assertThat(blocked.lookAgain(a)).isTrue();
        takeWoken("a");
        blocked.putOff(a);
        changes("k");
        takeWoken("c");
        blocked.declined(c, ItemType.HASH);
        goesOnWaiting("c", c);
        takeWoken();
        assertThat(isPromised("k")).isFalse();
        // Now there is.
        assertThat(blocked.nextCall(a)).isZero();
        takeWoken("a");
        assertThat(isPromised("k")).isTrue();
        blocked.leave(a, false);
        takeWoken("c");
        blocked.leave(c, false);
    }

    @Test
    void whoIsPutOffAloneHoldsNobodyUp() {
        Waiter a = waits("a", "k");
        List<String> done = new ArrayList<>();
        changes("k");
        behind("k", () -> done.add("behind"));
        blocked.putOff(a);
        assertThat(done).containsExactly("behind");
        changes("k");
        takeWoken("a");
        assertThat(isPromised("k")).isFalse();
        blocked.leave(a, false);
    }

    /** What comes of one command is due behind what is promised: for one who is put off by then. */
    @Test
    void whatIsDueForWhoIsPutOffHoldsNobodyUp() {
        Waiter a = waits("a", "k", "l");
        Waiter b = waits("b", "l");
        changes("l");
        blocked.putOff(a);
        takeWoken("a", "b");
        changes("k");
        blocked.leave(b, true);
        assertThat(isPromised("k")).isFalse();
        assertThat(isPromised("l")).isFalse();
        takeWoken();
        blocked.leave(a, false);
    }

    @Test
    void whoLeavesWhileItIsHeldUpIsNotTold() {
        Waiter a = waits("a", "k");
        List<String> done = new ArrayList<>();
        changes("k");
        Pass gone = behind("k", () -> done.add("gone"));
        behind("k", () -> done.add("stays"));
        blocked.leave(java.util.Objects.requireNonNull(gone));
        takeWoken("a");
        blocked.leave(a, true);
        assertThat(done).containsExactly("stays");
    }

    @Test
    void whatOneLeavesIsForTheNext() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "k");
        Waiter c = waits("c", "k");
        changes("k");
        takeWoken("a");
        blocked.leave(a, false);
        takeWoken("b");
        assertThat(isPromised("k")).isTrue();
        blocked.leave(b, true);
        takeWoken();
        assertThat(isPromised("k")).isFalse();
        blocked.leave(c, false);
    }

    @Test
    void whoFindsNothingKeepsItsPlace() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "k");
        changes("k");
        blocked.declined(a, null);
        assertThat(blocked.nextCall(a)).isEqualTo(-1);
        goesOnWaiting("a", a);
        takeWoken("a");
        assertThat(isPromised("k")).isFalse();
        changes("k");
        takeWoken("a");
        blocked.leave(a, true);
        blocked.leave(b, true);
    }

    @Test
    void aChangeWhileSomebodyIsCalledIsLookedAtOnceMore() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "k");
        changes("k");
        changes("k");
        takeWoken("a");
        blocked.declined(a, null);
        assertThat(blocked.nextCall(a)).isZero();
        changes("k");
        takeWoken("a");
        // It has left nothing of what it saw; what came since is for the next.
        blocked.leave(a, true);
        takeWoken("b");
        blocked.leave(b, true);
    }

    @Test
    void aKeyOfAnotherTypeIsForWhoWaitsForThat() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "k");
        Waiter z = waits("z", ItemType.SORTED_SET, "k");
        changes("k");
        takeWoken("a");
        blocked.declined(a, ItemType.SORTED_SET);
        takeWoken("z");
        blocked.declined(z, ItemType.LIST);
        takeWoken("a");
        blocked.declined(a, ItemType.STRING);
        takeWoken();
        assertThat(isPromised("k")).isFalse();
        blocked.leave(a, false);
        blocked.leave(b, false);
        blocked.leave(z, false);
    }

    @Test
    void oneOfManyKeysIsCalledForOnceAndTheOthersAreForOthers() {
        Waiter a = waits("a", "k", "l", "k");
        Waiter b = waits("b", "l", "k");
        assertThat(blocked.keyCount()).isEqualTo(2);
        changes("l");
        changes("k");
        takeWoken("a");
        assertThat(blocked.nextCall(a)).isEqualTo(1);
        assertThat(isPromised("k")).isTrue();
        blocked.leave(a, true);
        // There is nothing left in l; nobody has looked at k.
        takeWoken("b");
        assertThat(isPromised("l")).isFalse();
        assertThat(isPromised("k")).isTrue();
        assertThat(blocked.nextCall(b)).isEqualTo(1);
        blocked.leave(b, false);
    }

    @Test
    void whoLeavesBeforeItHasLookedLeavesEverythingToTheNext() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "k");
        changes("k");
        blocked.leave(a, false);
        blocked.leave(a, false);
        takeWoken("a", "b");
        blocked.leave(b, false);
        takeWoken();
    }

    @Test
    void whoIsCalledBeforeItSaysHowIsWokenThen() {
        Waiter a = new Waiter(ItemType.LIST, List.of(new NamedKey(0, "k")), null, Long.MAX_VALUE, 0);
        blocked.add(a);
        changes("k");
        takeWoken();
        goesOnWaiting("a", a);
        takeWoken("a");
        blocked.leave(a, true);
    }

    @Test
    void waitingEndsOnceAndNotForWhoWasCalled() {
        Waiter a = waits("a", "k");
        changes("k");
        takeWoken("a");
        assertThat(blocked.end(a, Waiter.End.ERROR)).isEqualTo(Unblocking.CALLED);
        assertThat(blocked.endOf(a)).isNull();
        List<String> done = new ArrayList<>();
        blocked.behind(a, () -> done.add("unblock"));
        assertThat(done).isEmpty();
        blocked.declined(a, null);
        assertThat(done).containsExactly("unblock");
        goesOnWaiting("a", a);
        assertThat(blocked.end(a, Waiter.End.ERROR)).isEqualTo(Unblocking.ENDED);
        assertThat(blocked.end(a, Waiter.End.TIMEOUT)).isEqualTo(Unblocking.NOT_WAITING);
        assertThat(blocked.endOf(a)).isEqualTo(Waiter.End.ERROR);
        takeWoken("a");
        blocked.behind(a, () -> done.add("at once"));
        assertThat(done).containsExactly("unblock", "at once");
        blocked.leave(a, false);
        assertThat(blocked.end(a, Waiter.End.ERROR)).isEqualTo(Unblocking.NOT_WAITING);
    }

    @Test
    void whoRunsBehindIsToldWhenNobodyIsCalledAnyMore() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "k");
        List<String> done = new ArrayList<>();
        behind("k", () -> done.add("not promised"));
        assertThat(done).containsExactly("not promised");
        changes("k");
        behind("k", () -> done.add("one"));
        Pass looks = new Pass(Pass.Kind.LOOK);
        assertThat(blocked.admits(looks, () -> done.add("two"))).isFalse();
        blocked.leave(a, false);
        assertThat(done).hasSize(1);
        blocked.leave(b, true);
        assertThat(done).endsWith("one", "two");
        assertThat(blocked.admits(looks, () -> done.add("admitted"))).isTrue();
        assertThat(done).hasSize(3);
    }

    @Test
    void whileACommandWaitsForAllPromisesNothingMoreIsPromised() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "l");
        List<String> done = new ArrayList<>();
        Pass all = new Pass(Pass.Kind.CHANGE);
        Pass push = new Pass(Pass.Kind.CALL);
        changes("k");
        assertThat(blocked.admits(all, () -> done.add("all"))).isFalse();
        assertThat(isPromised("l")).isTrue();
        assertThat(isPromised("nobody waits")).isFalse();
        assertThat(blocked.behind(key("l"), push, () -> done.add("push"))).isTrue();
        blocked.leave(a, true);
        assertThat(done).containsExactly("all");
        assertThat(blocked.admits(all, () -> done.add("once more"))).isTrue();
        // It changes what it changes.
        assertThat(isPromised("l")).isTrue();
        blocked.leave(all);
        assertThat(done).containsExactly("all", "push");
        assertThat(isPromised("l")).isFalse();
        changes("l");
        blocked.leave(push);
        assertThat(isPromised("l")).isTrue();
        blocked.leave(b, true);
        takeWoken("a", "b");
    }

    @Test
    void relatedKeysAreServedOneAfterTheOther() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "k", "l");
        Waiter c = waits("c", "l");
        Waiter simple = waits("simple", "s");
        List<String> done = new ArrayList<>();
        changes("k");
        changes("l");
        changes("s");
        changes("l");
        takeWoken("a", "simple");
        behind("l", () -> done.add("behind l"));
        blocked.leave(simple, true);
        assertThat(isPromised("s")).isFalse();
        blocked.leave(a, false);
        takeWoken("b");
        assertThat(blocked.nextCall(b)).isZero();
        blocked.leave(b, true);
        takeWoken("c");
        assertThat(isPromised("k")).isFalse();
        assertThat(isPromised("l")).isTrue();
        assertThat(done).isEmpty();
        blocked.leave(c, false);
        assertThat(done).containsExactly("behind l");
    }

    @Test
    void nobodyIsCalledForWhatIsDueWhenAllHaveLeft() {
        Waiter a = waits("a", "k", "x");
        Waiter b = waits("b", "l", "x");
        List<String> done = new ArrayList<>();
        changes("k");
        changes("l");
        takeWoken("a");
        behind("l", () -> done.add("behind l"));
        blocked.leave(b, false);
        assertThat(isPromised("l")).isTrue();
        blocked.leave(a, true);
        takeWoken();
        assertThat(isPromised("l")).isFalse();
        assertThat(done).containsExactly("behind l");
    }

    @Test
    void whatIsDueIsServedInTheOrderOfItsChanges() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "l");
        Waiter c = waits("c", "m");
        Waiter all = waits("all", "k", "l", "m");
        changes("k");
        changes("l");
        changes("m");
        takeWoken("a");
        blocked.leave(a, true);
        takeWoken("b");
        assertThat(isPromised("m")).isTrue();
        changes("k");
        takeWoken();
        blocked.leave(b, true);
        takeWoken("c");
        blocked.leave(c, true);
        takeWoken("all");
        assertThat(blocked.nextCall(all)).isZero();
        blocked.leave(all, true);
    }

    /** What a waiter moves on comes before what another command has changed after that by which it was called. */
    @Test
    void whatComesOfAChangeIsServedBeforeTheNextChange() {
        Waiter a = moves("a", "k", "m");
        Waiter b = waits("b", "m", "n");
        changes("k");
        changes("n");
        takeWoken("a");
        blocked.beginCause(a);
        changes("m");
        blocked.endCause();
        takeWoken();
        blocked.leave(a, true);
        takeWoken("b");
        assertThat(blocked.nextCall(b)).isZero();
        blocked.leave(b, true);
        assertThat(isPromised("n")).isFalse();
    }

    /** But what a transaction has changed itself comes before what comes of it. */
    @Test
    void whatATransactionChangesIsServedFirst() {
        Waiter a = moves("a", "k", "m");
        Waiter b = waits("b", "m", "n");
        assertThat(blocked.beginCause()).isTrue();
        changes("k");
        changes("n");
        blocked.endCause();
        takeWoken("a");
        blocked.beginCause(a);
        changes("m");
        blocked.endCause();
        blocked.leave(a, true);
        takeWoken("b");
        assertThat(blocked.nextCall(b)).isEqualTo(1);
        blocked.leave(b, true);
        assertThat(blocked.beginCause()).isFalse();
    }

    /** Nobody puts anything into a key that is promised to who waits for it alone. */
    @Test
    void whatLeadsToAPromisedKeyIsDue() {
        Waiter a = waits("a", "n");
        Waiter b = moves("b", "m", "l");
        Waiter c = moves("c", "l", "n");
        changes("n");
        changes("m");
        takeWoken("a");
        blocked.leave(a, true);
        takeWoken("b");
        blocked.leave(b, true);
        blocked.leave(c, false);
    }

    @Test
    void manyKeysMayBeDueThatNobodyWaitsForAnyMore() {
        String[] names = new String[20_000];
        Arrays.setAll(names, i -> "key" + i);
        Waiter a = waits("a", names);
        for (String name : names) {
            changes(name);
        }
        takeWoken("a");
        blocked.leave(a, true);
        assertThat(blocked.keyCount()).isZero();
        assertThat(blocked.isAnyHeldUp()).isFalse();
        Waiter b = waits("b", names[7]);
        changes(names[7]);
        takeWoken("b");
        blocked.leave(b, true);
    }

    @Test
    void aKeyThatIsDueWhenItsLastWaiterLeavesIsForgottenOnce() {
        Waiter a = waits("a", "k", "l");
        changes("k");
        changes("l");
        takeWoken("a");
        blocked.leave(a, true);
        assertThat(blocked.keyCount()).isZero();
        Waiter b = waits("b", "l");
        changes("l");
        takeWoken("b");
        blocked.leave(b, true);
    }

    private Waiter moves(String name, String from, String to) {
        Waiter waiter = new Waiter(ItemType.LIST, List.of(new NamedKey(0, from)), new NamedKey(0, to), Long.MAX_VALUE,
                0);
        blocked.add(waiter);
        goesOnWaiting(name, waiter);
        return waiter;
    }

    @Test
    void whereWhatComesMayBeMovedToIsPromisedToo() {
        Waiter a = waits("a", "k");
        Waiter b = moves("b", "k", "l");
        Waiter c = moves("c", "l", "m");
        Waiter d = moves("d", "m", "k");
        Waiter e = moves("e", "x", "y");
        assertThat(isPromised("m")).isFalse();
        changes("k");
        takeWoken("a");
        for (String key : new String[] {"k", "l", "m"}) {
            assertThat(isPromised(key)).as(key).isTrue();
        }
        assertThat(isPromised("x")).isFalse();
        assertThat(isPromised("y")).isFalse();
        List<String> done = new ArrayList<>();
        behind("m", () -> done.add("behind"));
        blocked.leave(a, false);
        takeWoken("b");
        blocked.leave(c, false);
        assertThat(isPromised("l")).isTrue();
        assertThat(isPromised("m")).isFalse();
        assertThat(done).isEmpty();
        blocked.leave(b, true);
        assertThat(isPromised("l")).isFalse();
        assertThat(done).containsExactly("behind");
        blocked.leave(d, false);
        blocked.leave(e, false);
    }

    @Test
    void databasesThatAreSwappedAreLookedAt() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "l");
        blocked.swapped(3, 4, (_, _) -> true);
        takeWoken();
        blocked.swapped(3, 0, (_, _) -> true);
        assertThat(woken).containsExactlyInAnyOrder("a", "b");
        blocked.leave(a, true);
        blocked.leave(b, true);
    }

    @Test
    void whatADatabaseDoesNotBringIsNotLookedAt() {
        Waiter a = waits("a", "k");
        Waiter b = waits("b", "l");
        blocked.swapped(3, 0, (database, name) -> database == 0 && Arrays.equals(name, new byte[] {'l'}));
        takeWoken("b");
        assertThat(isPromised("k")).isFalse();
        blocked.leave(b, true);
        blocked.leave(a, false);
    }
}
