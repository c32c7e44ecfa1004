package io.varve.memory.shard;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

import io.varve.memory.eviction.PinnedItems;
import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ShardPins;
import io.varve.memory.shard.item.TimedHashes;

/** Walks a shard and reports every violated invariant. Guarded by the shard's lock; for tests. */
public final class ShardIntegrity {
    private final Shard shard;
    private final ShardContext context;
    private final PinnedItems pinned;
    private final Consumer<String> problems;

    private ShardIntegrity(Shard shard, ShardContext context, PinnedItems pinned, Consumer<String> problems) {
        this.shard = shard;
        this.context = context;
        this.pinned = pinned;
        this.problems = problems;
    }

    /** @param pinned receives the pinned items, which are counted for all shards together */
    public static void check(Shard shard, ShardContext context, PinnedItems pinned, Consumer<String> problems) {
        Consumer<String> named = problem -> problems.accept("shard " + shard.number() + ": " + problem);
        new ShardIntegrity(shard, context, pinned, named).check();
    }

    private void check() {
        shard.items().segments().checkIntegrity(problems);
        shard.items().expiry().checkIntegrity(problems);
        Set<Long> indexed = new HashSet<>();
        Totals totals = new Totals();
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            Index index = shard.items().indexOrNull(physical);
            if (index != null) {
                index.checkIntegrity(problems);
                checkDatabase(physical, index, indexed, totals);
            } else if (shard.items().expiringOf(physical) != 0) {
                problems.accept(
                        "physical database " + physical + " has no index and " + shard.items().expiringOf(physical)
                                + " expiring items");
            }
        }
        checkExpiry(indexed, totals);
        TreesIntegrity trees = new TreesIntegrity(shard.items(), problems);
        indexed.forEach(trees::checkRoot);
        trees.checkNodes(indexed);
        totals.items += trees.items();
        totals.large += trees.large();
        totals.datasetBytes += trees.datasetBytes();
        trees.addClassBytes(totals.classBytes);
        for (int i = 0; i < totals.classBytes.length; i++) {
            expect("bytes of class " + i, totals.classBytes[i], shard.classBytes(i));
        }
        expect("dataset bytes", totals.datasetBytes, shard.items().datasetBytes());
        expect("large items", totals.large, shard.items().largeCount());
        expect("live items", totals.items, shard.items().segments().liveItems());
    }

    private void checkDatabase(int physical, Index index, Set<Long> indexed, Totals totals) {
        long before = totals.items;
        long expiringBefore = totals.expiring;
        long timedBefore = totals.timed;
        long[] cursor = {0};
        Set<Long> visited = new HashSet<>();
        do {
            cursor[0] = index.scan(cursor[0], visited::add);
        } while (cursor[0] != 0);
        for (long location : visited) {
            checkItem(physical, index, location, totals);
            if (!indexed.add(location)) {
                problems.accept("location " + location + " is in two indexes");
            }
        }
        expect("items of physical database " + physical, totals.items - before, index.size());
        expect("expiring items of physical database " + physical, totals.expiring - expiringBefore,
                shard.items().expiringOf(physical));
        expect("hashes with field times of physical database " + physical,
                totals.timed - timedBefore, shard.items().timed().timedOf(physical));
    }

    private void checkItem(int physical, Index index, long location, Totals totals) {
        long address = shard.items().address(location);
        if (ItemLayout.isDead(address)) {
            problems.accept("the index holds a dead item at " + location);
            return;
        }
        totals.items++;
        totals.classBytes[ItemLayout.penaltyClass(address)] += ItemLayout.size(address);
        totals.datasetBytes += ItemLayout.keyLength(address) + ItemLayout.valueLength(address);
        if (ItemLayout.isPinned(address)) {
            pinned.tryAdd(physical, ShardPins.bytes(address), Long.MAX_VALUE, any -> false);
        }
        totals.large += Location.isLarge(location) ? 1 : 0;
        if (ItemLayout.isInternal(address)) {
            problems.accept("the index holds a node at " + location);
        }
        totals.expiring += TimedHashes.expireAtMillis(address) != Item.NEVER ? 1 : 0;
        totals.timed += TimedHashes.countsAsTimed(address) ? 1 : 0;
        totals.entries += ItemLayout.expireAtMillis(address) != Item.NEVER ? 1 : 0;
        String timeProblem = shard.items().timed().problem(address);
        if (timeProblem != null) {
            problems.accept("item at " + location + " " + timeProblem);
        }
        if (ItemLayout.database(address) != physical) {
            problems.accept(
                    "item at " + location + " records database " + ItemLayout.database(address) + ", but its index is "
                            + physical);
        }
        long found = index.find(shard.items().verifier().hashOf(location), ItemLayout.keyAddress(address),
                ItemLayout.keyLength(address));
        if (found != location) {
            problems.accept("the key of the item at " + location + " is found at " + found);
        }
    }

    private void checkExpiry(Set<Long> indexed, Totals totals) {
        long[] entries = {0};
        shard.items().expiry().forEach(location -> {
            entries[0]++;
            if (!indexed.contains(location)) {
                problems.accept("an expiry entry points at " + location + ", which no index holds");
            } else if (ItemLayout.expireAtMillis(shard.items().address(location)) == Item.NEVER) {
                problems.accept("an expiry entry points at " + location + ", which never expires");
            }
        });
        expect("expiry entries", totals.entries, entries[0]);
        expect("expiry size", entries[0], shard.items().expiry().size());
    }

    private void expect(String what, long expected, long actual) {
        if (expected != actual) {
            problems.accept(what + ": walked " + expected + ", counted " + actual + " (pool "
                    + context.pool.segmentBytes() + ")");
        }
    }

    private static final class Totals {
        private long items;
        /** Items whose keys have an expiry time; items with an expiry entry. */
        private long expiring;
        private long entries;
        private long timed;
        private long large;
        private long datasetBytes;
        private final long[] classBytes = new long[ItemLayout.MAX_PENALTY_CLASS + 1];
    }
}
