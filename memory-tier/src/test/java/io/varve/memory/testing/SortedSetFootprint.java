package io.varve.memory.testing;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.SplittableRandom;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.collection.SortedSetTree;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import io.varve.memory.report.CacheStats;

/**
 * Measures the memory of a member of a large sorted set, all in, and the time to insert, find and rank it. Confined to
 * the main thread. It is no test: {@code main} prints the figures; arguments: members (1 million), member bytes (16).
 * Members arrive one by one in random order of score, as with ZADD, with maintenance in between.
 */
final class SortedSetFootprint {
    /** The thread's own time: others may use the machine too. */
    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

    private SortedSetFootprint() {}

    public static void main(String[] arguments) {
        int members = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
        int memberBytes = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 16;
        Regions regions = new Regions();
        long buffer = regions.allocate(Regions.MIN_BYTES);
        try (Cache cache = Cache.open(CacheConfig.defaults(4L << 30).withShards(8))) {
            CacheSession session = cache.newSession();
            Key key = new Key();
            Item item = new Item();
            SortedSetTree tree = new SortedSetTree();
            Memory.putLong(buffer, 1);
            session.bind(key, 0, buffer, 8);
            long member = buffer + 64;
            SplittableRandom random = new SplittableRandom(1);
            long start = CPU.getCurrentThreadCpuTime();
            session.makeTree(key, item, tree, Item.NEVER, () -> put(tree, member, memberBytes, 0, random));
            for (int i = 1; i < members; i++) {
                session.lock(key);
                try {
                    if (!session.findForWriting(key, item)) {
                        throw new AssertionError("the set has gone");
                    }
                    session.open(key, item, tree);
                    put(tree, member, memberBytes, i, random);
                } catch (CacheFullException full) {
                    throw new AssertionError(full);
                } finally {
                    session.unlock(key);
                }
                if (i % 1000 == 0) {
                    cache.maintain();
                }
            }
            long loaded = CPU.getCurrentThreadCpuTime();
            report("as loaded", cache, members);
            for (int i = 0; i < 1000 && cache.maintain() == 0; i++) {
                Thread.onSpinWait();
            }
            report("once maintenance has nothing to do", cache, members);
            System.out.printf("put, maintenance counted in: %.0f ns of CPU time each%n",
                    (double) (loaded - start) / members);
            session.lock(key);
            try {
                look(session, key, item, tree, member, memberBytes, members, random);
            } finally {
                session.unlock(key);
            }
        } finally {
            regions.free(buffer, Regions.MIN_BYTES);
        }
    }

    private static void put(SortedSetTree tree, long member, int memberBytes, long number, SplittableRandom random) {
        name(member, memberBytes, number);
        if (!tree.put(member, memberBytes, random.nextDouble())) {
            throw new AssertionError("was there: " + number);
        }
    }

    private static void name(long member, int memberBytes, long number) {
        Memory.fill(member, memberBytes, (byte) 'm');
        Memory.putLong(member, number);
    }

    private static void report(String when, Cache cache, int members) {
        CacheStats stats = cache.stats();
        System.out.printf("%s: %.1f bytes a member in use, %.1f of them live, %.1f charged; segments moved %d MB%n",
                when,
                (double) stats.usedBytes() / members, (double) stats.liveBytes() / members,
                (double) stats.chargedBytes() / members, stats.bytesMoved() >> 20);
    }

    private static void look(CacheSession session, Key key, Item item, SortedSetTree tree, long member,
            int memberBytes, int members, SplittableRandom random) {
        if (!session.findForWriting(key, item)) {
            throw new AssertionError("the set has gone");
        }
        session.open(key, item, tree);
        int times = 300_000;
        long ranks = 0;
        long start = CPU.getCurrentThreadCpuTime();
        for (int i = 0; i < times; i++) {
            name(member, memberBytes, random.nextInt(members));
            if (!tree.find(member, memberBytes)) {
                throw new AssertionError("not found");
            }
            ranks += (long) tree.score();
        }
        long found = CPU.getCurrentThreadCpuTime();
        for (int i = 0; i < times; i++) {
            name(member, memberBytes, random.nextInt(members));
            if (!tree.find(member, memberBytes)) {
                throw new AssertionError("not found");
            }
            ranks += tree.rank();
        }
        long ranked = CPU.getCurrentThreadCpuTime();
        for (int i = 0; i < times; i++) {
            if (!tree.seek(random.nextInt(members))) {
                throw new AssertionError("no such rank");
            }
            ranks += tree.length();
        }
        long sought = CPU.getCurrentThreadCpuTime();
        System.out.printf("score: %.0f ns, rank: %.0f ns, by rank: %.0f ns (%d)%n", (double) (found - start) / times,
                (double) (ranked - found) / times, (double) (sought - ranked) / times, ranks & 1);
    }
}
