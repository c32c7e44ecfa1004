package io.varve.server.command.key;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

import io.varve.flash.record.ItemKey;
import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.HeapReservation;
import io.varve.server.command.text.GlobPattern;
import org.jspecify.annotations.Nullable;

/**
 * Scans the keys of both tiers. Confined to the thread on which {@link FlashTier#runScan} runs tasks.
 *
 * <p>Flash keeps its keys in the scan order of memory, so a cursor denotes the same position in both. A step visits a
 * part of that order in memory, then on flash, then in memory again. So it visits a key that moves between the tiers
 * during the step at least once. A key that exists during a whole scan is returned at least once, as Redis
 * guarantees, and perhaps twice.
 *
 * <p>Keys are collected on the heap, one small part at a time. Keys that are too long for that are in memory, and the
 * result only lists the parts that contain them ({@link LongKeys}).
 */
final class TwoTierScan {
    /** Limit of COUNT, to bound the keys collected at a time. */
    private static final int MAX_COUNT = 2048;
    /** Maximum parts visited in one call, or the number of shards if that is more. */
    private static final int MAX_STEPS = 64;
    private static final int KEYS_COUNT = 1000;
    /** Maximum size collected at a time, and of a SCAN reply, bytes, unless it is a single key. */
    private static final long MAX_PAGE_BYTES = 1L << 20;
    /** Maximum size that KEYS collects, bytes. */
    private static final long MAX_KEYS_BYTES = 24L << 20;
    /** Maximum attempts to find a random key. */
    private static final int RANDOM_TRIES = 20;

    private final Cache cache;
    private final FlashTier tier;
    private final CacheSession session;
    private final Key key = new Key();
    private ByteBuffer keyBuffer = ByteBuffer.allocateDirect(256);

    TwoTierScan(Cache cache, FlashTier tier) {
        this.cache = cache;
        this.tier = tier;
        session = cache.newSession();
    }

    /** Selects the matching keys. Immutable; its pattern is a copy. */
    static final class Filter {
        /** Matches all keys. */
        static final Filter NONE = new Filter(null, null);

        private final @Nullable ByteBuffer pattern;
        private final @Nullable String type;

        /** @param pattern null for all keys */
        Filter(byte @Nullable [] pattern, @Nullable String type) {
            this.pattern = pattern == null ? null : ByteBuffer.allocateDirect(pattern.length).put(pattern).flip();
            this.type = type;
        }

        boolean matches(long address, int length, int typeCode) {
            return (type == null || ItemType.ofCode(typeCode).redisName().equals(type)) && (pattern == null
                    || GlobPattern.matches(MemorySegment.ofBuffer(pattern).address(), pattern.remaining(), address,
                            length));
        }
    }

    /**
     * The result of a scan. Immutable.
     *
     * @param cursor where a scan continues; 0 at the end
     * @param keys the keys that are not too long for the heap
     * @param longOnes the parts that contain longer keys
     */
    record Page(long cursor, List<byte[]> keys, List<ScanPart> longOnes) {}

    /** Returns one page of SCAN from a cursor on; null if the heap budget is exhausted. */
    @Nullable
    Page scan(int database, long cursor, int requested, Filter filter, HeapReservation reservation) {
        int count = Math.min(requested, MAX_COUNT);
        session.now(cache.config().ticker().wallMillis());
        List<byte[]> wanted = new ArrayList<>();
        List<ScanPart> longOnes = new ArrayList<>();
        long at = cursor;
        long bytes = 0;
        long visited = 0;
        int steps = 0;
        do {
            GatheredKeys gathered = gather(database, at, count, reservation);
            if (gathered.isRefused()) {
                return null;
            }
            visited += gathered.size();
            for (GatheredKeys.Named found : gathered.all()) {
                long more = GatheredKeys.heapBytes(found.name());
                if (filter.matches(inNative(found.name()), found.name().length, found.type())) {
                    wanted.add(found.name());
                    bytes += more;
                } else {
                    reservation.release(more);
                }
            }
            if (gathered.hasLongOnes()) {
                longOnes.add(gathered.part());
                bytes += MAX_PAGE_BYTES;
            }
            at = gathered.part().next();
            steps++;
        } while (at != 0 && (visited < count || cursor == 0 && visited >= allKeys(database))
                && steps < Math.max(MAX_STEPS, cache.shardCount()) && bytes < MAX_PAGE_BYTES);
        return new Page(at, wanted, longOnes);
    }

    /** Number of keys in both tiers. A page with all of them is the last one. */
    private long allKeys(int database) {
        return cache.size(database, tier::count);
    }

    /** Returns all keys for KEYS; null if they are too many for the heap. */
    @Nullable
    Page keys(int database, Filter filter, HeapReservation reservation) {
        // A key that changes tiers between two parts of a step is visited twice.
        Map<ByteBuffer, byte[]> once = new LinkedHashMap<>();
        List<ScanPart> longOnes = new ArrayList<>();
        long bytes = 0;
        long cursor = 0;
        do {
            Page page = scan(database, cursor, KEYS_COUNT, filter, reservation);
            if (page == null) {
                return null;
            }
            for (byte[] name : page.keys()) {
                long more = GatheredKeys.heapBytes(name);
                if (once.putIfAbsent(ByteBuffer.wrap(name), name) == null) {
                    bytes += more;
                } else {
                    reservation.release(more);
                }
            }
            if (bytes > MAX_KEYS_BYTES) {
                return null;
            }
            longOnes.addAll(page.longOnes());
            cursor = page.cursor();
        } while (cursor != 0);
        return new Page(0, List.copyOf(once.values()), longOnes);
    }

    /** Returns at most one key for RANDOMKEY, and perhaps the part of a long key, which is preferred. */
    Page random(int database) {
        for (int tries = 0; tries < RANDOM_TRIES; tries++) {
            session.now(cache.config().ticker().wallMillis());
            long inMemory = cache.size(database);
            long all = allKeys(database);
            if (all == 0) {
                break;
            }
            boolean memoryFirst = ThreadLocalRandom.current().nextLong(all) < inMemory;
            Page found = memoryFirst ? randomInMemory(database) : randomBelow(database);
            if (found == null) {
                found = memoryFirst ? randomBelow(database) : randomInMemory(database);
            }
            if (found != null) {
                return found;
            }
            // The key is moving between the tiers, or has expired.
        }
        return new Page(0, List.of(), List.of());
    }

    private @Nullable Page randomInMemory(int database) {
        List<byte[]> found = new ArrayList<>(1);
        List<ScanPart> foundLong = new ArrayList<>(1);
        boolean any = session.random(database, item -> {
            if (LongKeys.isLong(item.keyLength())) {
                session.bind(key, database, item.keyAddress(), item.keyLength());
                foundLong.add(ScanPart.around(key, cache.shardCount()));
            } else {
                found.add(Memory.toArray(item.keyAddress(), item.keyLength()));
            }
        });
        if (!any) {
            return null;
        }
        // A long key may have been removed before the reply is written.
        Page below = foundLong.isEmpty() ? null : randomBelow(database);
        return new Page(0, below == null ? found : below.keys(), foundLong);
    }

    private @Nullable Page randomBelow(int database) {
        List<byte[]> found = new ArrayList<>(1);
        boolean any = tier.visitAny(session.epoch(database), (name, _) -> found.add(name));
        return any ? new Page(0, found, List.of()) : null;
    }

    /** Collects the keys of a part, which is halved until they are not too many. */
    private GatheredKeys gather(int database, long cursor, int count, HeapReservation reservation) {
        for (int bits = bitsFor(count);; bits++) {
            GatheredKeys gathered = new GatheredKeys(ScanPart.at(cursor, bits, cache.shardCount()), reservation,
                    bits < ScanPart.MAX_BITS ? MAX_PAGE_BYTES : Long.MAX_VALUE);
            tier.beginScan();
            try {
                gatherMemory(database, gathered);
                gatherFlash(database, gathered);
                gatherMemory(database, gathered);
            } finally {
                tier.endScan();
            }
            if (!gathered.isOverLimit()) {
                return gathered;
            }
            gathered.release();
        }
    }

    /**
     * Binary logarithm of the number of parts per shard that makes each part hold about {@code count} keys of all
     * databases.
     */
    private int bitsFor(int count) {
        long items = tier.count();
        for (int i = 0; i < cache.databaseCount(); i++) {
            items += cache.size(i);
        }
        long parts = Long.highestOneBit(Math.max(1, items / cache.shardCount() / count));
        return Math.min(ScanPart.MAX_BITS, Long.numberOfTrailingZeros(parts));
    }

    private void gatherMemory(int database, GatheredKeys gathered) {
        if (gathered.hasEnded()) {
            return;
        }
        gathered.part().visitMemory(session, database, key, gathered::hasEnded, item -> {
            if (LongKeys.isLong(item.keyLength())) {
                gathered.addLong(key.hash(), item.keyLength());
            } else if (!gathered.hasEnded()) {
                gathered.add(Memory.toArray(item.keyAddress(), item.keyLength()), item.type().code());
            }
        });
    }

    private void gatherFlash(int database, GatheredKeys gathered) {
        ScanPart part = gathered.part();
        int shards = cache.shardCount();
        long epoch = session.epoch(database);
        int perShard = Math.max(1, ItemKey.GROUPS / shards);
        int first = (int) ((long) part.shard() * ItemKey.GROUPS / shards);
        for (int group = first; group < first + perShard && !gathered.hasEnded(); group++) {
            tier.visit(epoch, group, part.from(), part.end(), (name, type) -> {
                session.bind(key, database, inNative(name), name.length);
                return key.shard() != part.shard() || gathered.add(name, type);
            });
        }
    }

    private long inNative(byte[] bytes) {
        if (keyBuffer.capacity() < bytes.length) {
            keyBuffer = ByteBuffer.allocateDirect(2 * bytes.length);
        }
        long address = MemorySegment.ofBuffer(keyBuffer.clear()).address();
        Memory.copy(bytes, 0, address, bytes.length);
        return address;
    }
}
