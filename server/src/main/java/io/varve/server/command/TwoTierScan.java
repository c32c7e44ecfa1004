package io.varve.server.command;

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
import org.jspecify.annotations.Nullable;

/**
 * Walks over the keys of both tiers. Confined to the thread that {@link FlashTier#look} runs things on.
 *
 * <p>Flash keeps its keys in the order in which memory is walked over, so a cursor means the same place in both. A step looks at a
 * part of that order in memory, then on flash, then in memory again: what moves from one to the other meanwhile is met in at least
 * one of them. So what is there during a whole walk is met at least once, as Redis promises, and perhaps twice.
 */
final class TwoTierScan {
    /** Keys that are gathered at once are not many more, whatever COUNT says. */
    private static final int MOST_COUNT = 2048;
    /** Parts of the order that one call looks at. */
    private static final int MOST_STEPS = 64;
    private static final int KEYS_COUNT = 1000;
    /** What KEYS gathers at the most, bytes. */
    private static final long MOST_KEYS_BYTES = 16L << 20;
    /** How often a key is looked for that is somewhere. */
    private static final int RANDOM_TRIES = 20;
    /** What a key takes beside its bytes while it is gathered. */
    private static final int KEY_OVERHEAD_BYTES = 64;
    private static final int POSITION_BITS = 40;

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

    /** Which keys are wanted. Immutable; its pattern is a copy. */
    static final class Filter {
        private final @Nullable ByteBuffer pattern;
        private final @Nullable String type;

        /** @param pattern null for all keys */
        Filter(byte @Nullable [] pattern, @Nullable String type) {
            this.pattern = pattern == null ? null : ByteBuffer.allocateDirect(pattern.length).put(pattern).flip();
            this.type = type;
        }

        private boolean wants(long address, int length, int typeCode) {
            return (type == null || ItemType.ofCode(typeCode).redisName().equals(type)) && (pattern == null
                    || GlobPattern.matches(MemorySegment.ofBuffer(pattern).address(), pattern.remaining(), address,
                            length));
        }
    }

    /** What a call of SCAN answers. Immutable. */
    record Page(long cursor, List<byte[]> keys) {}

    /** Keys of a part of the order, each once. */
    private static final class Gathered {
        private final Map<ByteBuffer, Named> once = new LinkedHashMap<>();

        void add(byte[] name, int type) {
            once.put(ByteBuffer.wrap(name), new Named(name, type));
        }
    }

    /** A key, and the code of its item's type. Immutable. */
    private static final class Named {
        private final byte[] name;
        private final int type;

        Named(byte[] name, int type) {
            this.name = name;
            this.type = type;
        }
    }

    /** As SCAN: some keys, from a cursor on. */
    Page scan(int database, long cursor, int asked, Filter filter) {
        int count = Math.min(asked, MOST_COUNT);
        session.now(cache.config().ticker().wallMillis());
        List<byte[]> wanted = new ArrayList<>();
        long at = cursor;
        long visited = 0;
        int steps = 0;
        do {
            Gathered gathered = new Gathered();
            at = step(database, at, count, gathered);
            visited += gathered.once.size();
            for (Named found : gathered.once.values()) {
                if (filter.wants(inNative(found.name), found.name.length, found.type)) {
                    wanted.add(found.name);
                }
            }
            steps++;
        } while (at != 0 && visited < count && steps < MOST_STEPS);
        return new Page(at, wanted);
    }

    /** As KEYS: all of them; null if they are too many. */
    @Nullable
    List<byte[]> keys(int database, Filter filter) {
        List<byte[]> all = new ArrayList<>();
        long bytes = 0;
        long cursor = 0;
        do {
            Page page = scan(database, cursor, KEYS_COUNT, filter);
            for (byte[] name : page.keys()) {
                bytes += name.length + KEY_OVERHEAD_BYTES;
            }
            if (bytes > MOST_KEYS_BYTES) {
                return null;
            }
            all.addAll(page.keys());
            cursor = page.cursor();
        } while (cursor != 0);
        // What has moved from one part of the order's look to the next is met twice.
        Map<ByteBuffer, byte[]> once = new LinkedHashMap<>();
        all.forEach(name -> once.put(ByteBuffer.wrap(name), name));
        return List.copyOf(once.values());
    }

    /** As RANDOMKEY; null if there is none. */
    byte @Nullable [] random(int database) {
        for (int tries = 0; tries < RANDOM_TRIES; tries++) {
            session.now(cache.config().ticker().wallMillis());
            long inMemory = cache.size(database);
            long all = cache.size(database, tier::count);
            if (all == 0) {
                return null;
            }
            boolean memoryFirst = ThreadLocalRandom.current().nextLong(all) < inMemory;
            byte[] found = memoryFirst ? randomInMemory(database) : randomBelow(database);
            if (found == null) {
                found = memoryFirst ? randomBelow(database) : randomInMemory(database);
            }
            if (found != null) {
                return found;
            }
            // It is on its way from one to the other, or past its time.
        }
        return null;
    }

    private byte @Nullable [] randomInMemory(int database) {
        byte[][] found = {null};
        boolean any = session.random(database,
                item -> found[0] = Memory.toArray(item.keyAddress(), item.keyLength()));
        return any ? found[0] : null;
    }

    private byte @Nullable [] randomBelow(int database) {
        byte[][] found = {null};
        boolean any = tier.showAny(session.epoch(database), (name, _) -> found[0] = name);
        return any ? found[0] : null;
    }

    /**
     * Gathers the keys of a part of the order.
     *
     * @return the cursor behind it; 0 at the end
     */
    private long step(int database, long cursor, int count, Gathered gathered) {
        int shards = cache.shardCount();
        int shardBits = Integer.numberOfTrailingZeros(shards);
        int shard = (int) (cursor & shards - 1);
        long from = Long.reverse(cursor >>> shardBits);
        long end = endOf(from, count);
        tier.beginLook();
        try {
            gatherMemory(database, cursor, shard, from, end, gathered);
            gatherFlash(database, shard, from, end, gathered);
            gatherMemory(database, cursor, shard, from, end, gathered);
        } finally {
            tier.endLook();
        }
        if (end != 0) {
            return Long.reverse(end) << shardBits | shard;
        }
        return shard + 1 < shards ? shard + 1 : 0;
    }

    /** Behind as large a part as is likely to hold so many keys, of all databases; 0 for the rest of the shard. */
    private long endOf(long from, int count) {
        long items = tier.count();
        for (int i = 0; i < cache.databaseCount(); i++) {
            items += cache.size(i);
        }
        long parts = Long.highestOneBit(Math.max(1, items / cache.shardCount() / count));
        if (parts == 1) {
            return 0;
        }
        long width = 1L << Long.SIZE - Math.min(POSITION_BITS, Long.numberOfTrailingZeros(parts));
        return (from & -width) + width;
    }

    private void gatherMemory(int database, long cursor, int shard, long from, long end, Gathered gathered) {
        int shards = cache.shardCount();
        int shardBits = Integer.numberOfTrailingZeros(shards);
        long at = cursor;
        do {
            at = session.scan(database, at, 1, item -> {
                session.bind(key, database, item.keyAddress(), item.keyLength());
                if (key.shard() == shard && isBetween(ItemKey.position(ItemKey.place(key.hash())), from, end)) {
                    gathered.add(Memory.toArray(item.keyAddress(), item.keyLength()), item.type().code());
                }
            });
        } while (at != 0 && (at & shards - 1) == shard
                && (end == 0 || Long.compareUnsigned(Long.reverse(at >>> shardBits), end) < 0));
    }

    private static boolean isBetween(long position, long from, long end) {
        // Positions are coarser than cursors may be.
        return Long.compareUnsigned(position, from >>> Long.SIZE - POSITION_BITS << Long.SIZE - POSITION_BITS) >= 0
                && (end == 0 || Long.compareUnsigned(position, end) < 0);
    }

    private void gatherFlash(int database, int shard, long from, long end, Gathered gathered) {
        int shards = cache.shardCount();
        long epoch = session.epoch(database);
        int perShard = Math.max(1, ItemKey.GROUPS / shards);
        int first = (int) ((long) shard * ItemKey.GROUPS / shards);
        for (int group = first; group < first + perShard; group++) {
            tier.show(epoch, group, from, end, (name, type) -> {
                session.bind(key, database, inNative(name), name.length);
                if (key.shard() == shard) {
                    gathered.add(name, type);
                }
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
