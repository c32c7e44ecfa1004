package io.varve.memory.expiry;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.memory.item.Ticker;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A substitute for a shard: items in a map, a clock that the test moves, and an expiry. Confined to the test's thread.
 *
 * <p>It fails the test at once when an item expires early, twice, or while it has no entry.
 */
final class FakeItems implements ExpiryOwner, Ticker {
    /** A deadline that no fake clock reaches. */
    static final long NO_DEADLINE = Long.MAX_VALUE;

    private static final class Item {
        long expireAtMillis;
        int entry;

        Item(long expireAtMillis) {
            this.expireAtMillis = expireAtMillis;
        }
    }

    final MemoryBudget budget;
    final Expiry expiry;
    final List<Long> expired = new ArrayList<>();
    long nowMillis;
    long nanos;

    /** The time that removing one item takes on the fake monotonic clock. */
    long nanosPerExpire;

    private final Map<Long, Item> items = new HashMap<>();

    FakeItems(ExpireAlgorithm algorithm, int baseMillis, int buckets) {
        this(algorithm, baseMillis, buckets, 16, 1L << 30);
    }

    FakeItems(ExpireAlgorithm algorithm, int baseMillis, int buckets, int stepsPerReading, long limitBytes) {
        this(algorithm, baseMillis, buckets, stepsPerReading, limitBytes, new Regions());
    }

    FakeItems(ExpireAlgorithm algorithm, int baseMillis, int buckets, int stepsPerReading, long limitBytes,
            Regions regions) {
        budget = new MemoryBudget(limitBytes);
        expiry = Expiry.create(algorithm, new Expiry.Setting(baseMillis, buckets, regions, budget, this, this,
                stepsPerReading));
    }

    /** As EXPIREAT: adds, or gives a new time. */
    void set(long location, long expireAtMillis) {
        Item item = items.get(location);
        if (item == null) {
            Item fresh = new Item(expireAtMillis);
            fresh.entry = expiry.add(location, expireAtMillis, nowMillis);
            items.put(location, fresh);
        } else {
            if (!expiry.mayStay(item.expireAtMillis, expireAtMillis)) {
                item.entry = expiry.move(item.entry, location, item.expireAtMillis, expireAtMillis, nowMillis);
            }
            item.expireAtMillis = expireAtMillis;
        }
        assertTrue(entryOf(location) >= 0, "an entry id is not negative");
    }

    /** As PERSIST or DEL. */
    void remove(long location) {
        Item item = item(location);
        expiry.remove(item.entry, item.expireAtMillis);
        items.remove(location);
    }

    /** As the cleaner: the item is now somewhere else. */
    void relocate(long from, long to) {
        Item item = item(from);
        items.remove(from);
        items.put(to, item);
        expiry.relocate(item.entry, to);
    }

    /** One cycle without a limit. */
    void cycle() {
        expiry.beginCycle(nowMillis);
        assertEquals(CycleStatus.DONE, expiry.runSlice(nowMillis, NO_DEADLINE));
    }

    boolean has(long location) {
        return items.containsKey(location);
    }

    long expireAt(long location) {
        return item(location).expireAtMillis;
    }

    int entryOf(long location) {
        return item(location).entry;
    }

    int count() {
        return items.size();
    }

    /** Whatever {@link Expiry#checkIntegrity} finds, and entries against items, both ways. */
    void check(String when) {
        List<String> problems = new ArrayList<>();
        expiry.checkIntegrity(problems::add);
        assertEquals(List.of(), problems, when);
        assertEquals(items.size(), expiry.size(), when);
        Set<Long> seen = new HashSet<>();
        expiry.forEach(location -> assertTrue(seen.add(location), when));
        assertEquals(items.keySet(), seen, when);
        items.forEach((location, item) -> assertEquals(location, expiry.store.location(item.entry),
                () -> "the back link of " + location + " " + when));
        assertEquals(budget.chargedBytes(), expiry.bytes(), when);
    }

    @Override
    public long expireAtMillis(long location) {
        return item(location).expireAtMillis;
    }

    @Override
    public void entryMoved(long location, int entry) {
        item(location).entry = entry;
    }

    @Override
    public void expire(long location) {
        Item item = item(location);
        assertTrue(item.expireAtMillis < nowMillis,
                () -> location + " expired at " + nowMillis + ", before " + item.expireAtMillis);
        items.remove(location);
        expired.add(location);
        nanos += nanosPerExpire;
    }

    @Override
    public long wallMillis() {
        return nowMillis;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }

    private Item item(long location) {
        Item item = items.get(location);
        assertNotNull(item, () -> "no item at " + location);
        return item;
    }
}
