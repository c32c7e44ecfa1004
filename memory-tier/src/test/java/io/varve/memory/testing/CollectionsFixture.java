package io.varve.memory.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.ListTree;
import io.varve.memory.collection.SetTree;
import io.varve.memory.collection.SortedSetTree;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.shard.ShardSet;
import org.jspecify.annotations.Nullable;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/** A cache with methods for large collections of strings. Confined to one thread. */
public final class CollectionsFixture implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 20;

    public final CacheFixture plain;
    public final Cache cache;
    public final CacheSession session;
    final Item item = new Item();
    final Item other = new Item();
    private final Key key = new Key();
    private final Key otherKey = new Key();
    private final java.lang.foreign.Arena arena = java.lang.foreign.Arena.ofConfined();
    private final long[] buffers = new long[4];
    final ShardSet shards;

    public CollectionsFixture(Cache cache) {
        plain = new CacheFixture(cache);
        this.cache = cache;
        session = plain.session;
        shards = new ShardSet(cache.shardCount());
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = arena.allocate(BUFFER_BYTES).address();
            LiveRanges.add(buffers[i], BUFFER_BYTES);
        }
    }

    private long copy(int buffer, String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        Memory.copy(bytes, 0, buffers[buffer], bytes.length);
        return buffers[buffer];
    }

    private static String read(long address, int length) {
        return new String(Memory.toArray(address, length), ISO_8859_1);
    }

    private Key bind(String name) {
        plain.now();
        session.bind(key, 0, copy(0, name), name.length());
        return key;
    }

    private Key bindOther(int database, String name) {
        session.bind(otherKey, database, copy(1, name), name.length());
        return otherKey;
    }

    /** Something done to a tree under its shard's lock; null if the key is not there. */
    public <T extends CollectionTree, R> @Nullable R with(String name, T tree, Function<T, R> action) {
        bind(name);
        session.lock(key);
        try {
            if (!session.findForWriting(key, item)) {
                return null;
            }
            session.open(key, item, tree);
            R result = action.apply(tree);
            if (tree.size() == 0) {
                session.delete(key);
            }
            session.changed(key, Change.SET);
            return result;
        } finally {
            session.unlock(key);
        }
    }

    /** Something done to a tree that is there. */
    public <T extends CollectionTree> boolean test(String name, T tree, Predicate<T> action) {
        Boolean result = with(name, tree, action::test);
        return java.util.Objects.requireNonNull(result, name);
    }

    /** Makes a tree of what a filler puts into it. */
    public <T extends CollectionTree> void make(String name, T tree, long expireAtMillis, Runnable filler) {
        bind(name);
        session.lock(key);
        try {
            session.makeTree(key, item, tree, expireAtMillis, filler::run);
            session.changed(key, Change.SET);
        } finally {
            session.unlock(key);
        }
    }

    /** Works on a large hash whose fields get expiry times; the earliest of them is given. */
    public <R> R withTimes(String name, long earliestMillis, Function<HashTree, R> action) {
        bind(name);
        session.lock(key);
        try {
            boolean found = session.findForWriting(key, item);
            assert found : name;
            session.keepFieldTimes(key, item, earliestMillis);
            HashTree tree = new HashTree();
            session.open(key, item, tree);
            R result = action.apply(tree);
            session.changed(key, Change.SET);
            return result;
        } finally {
            session.unlock(key);
        }
    }

    // --- elements, by text

    public boolean put(HashTree tree, String field, String value, long time) {
        return tree.put(copy(2, field), field.length(), copy(3, value), value.length(), time);
    }

    public boolean put(HashTree tree, String field, String value) {
        return tree.put(copy(2, field), field.length(), copy(3, value), value.length());
    }

    public boolean remove(HashTree tree, String field) {
        return tree.remove(copy(2, field), field.length());
    }

    public boolean put(SortedSetTree tree, String member, double score) {
        return tree.put(copy(2, member), member.length(), score);
    }

    public boolean add(SetTree tree, String member) {
        return tree.add(copy(2, member), member.length());
    }

    public void addLast(ListTree tree, String element) {
        tree.addLast(copy(2, element), element.length());
    }

    public void makeHash(String name, int fields, int valueBytes, long expireAtMillis) {
        HashTree tree = new HashTree();
        make(name, tree, expireAtMillis, () -> {
            for (int i = 0; i < fields; i++) {
                put(tree, "field" + i, name.substring(0, 1).repeat(valueBytes));
            }
        });
    }

    /** The fields of a hash, or null. */
    public @Nullable Map<String, String> hash(String name) {
        HashTree tree = new HashTree();
        bind(name);
        session.lock(key);
        try {
            if (!session.peek(key, item) || !item.isTree()) {
                return null;
            }
            session.open(key, item, tree);
            Map<String, String> all = new TreeMap<>();
            for (boolean more = tree.first(); more; more = tree.next()) {
                all.put(read(tree.fieldAddress(), tree.fieldLength()), read(tree.valueAddress(), tree.valueLength()));
            }
            return all;
        } finally {
            session.unlock(key);
        }
    }

    /** The members of a sorted set, or null. */
    public @Nullable List<String> sortedSet(String name) {
        SortedSetTree tree = new SortedSetTree();
        bind(name);
        session.lock(key);
        try {
            if (!session.peek(key, item) || !item.isTree()) {
                return null;
            }
            session.open(key, item, tree);
            List<String> all = new ArrayList<>();
            for (boolean more = tree.first(); more; more = tree.next()) {
                all.add(tree.score() + " " + read(tree.address(), tree.length()));
            }
            return all;
        } finally {
            session.unlock(key);
        }
    }

    public long memoryUsage(String name) {
        bind(name);
        session.lock(key);
        try {
            return session.peek(key, item) ? session.memoryUsage(item) : 0;
        } finally {
            session.unlock(key);
        }
    }

    /** Copies or moves a tree; false if it is not there. */
    public boolean transfer(String from, String to, int database, boolean move) {
        bind(from);
        bindOther(database, to);
        shards.clear();
        shards.add(key.shard());
        shards.add(otherKey.shard());
        session.lock(shards);
        try {
            if (!session.findForWriting(key, item) || !item.isTree()) {
                return false;
            }
            if (move) {
                session.moveTree(key, item, otherKey, other, item.expireAtMillis());
            } else {
                session.copyTree(key, item, otherKey, other, item.expireAtMillis());
            }
            return true;
        } finally {
            session.unlock(shards);
        }
    }

    /** Whether a key of a shard that is locked is there. */
    public boolean isThereBesides(String name) {
        return session.find(bindOther(0, name), other);
    }

    public boolean areInOneShard(String one, String another) {
        return bind(one).shard() == bindOther(0, another).shard();
    }

    public void assertSound() {
        assertThat(cache.checkIntegrity()).isEmpty();
    }

    /** Maintains until nothing is left to do, and finds nothing. */
    public void assertNothingLives() {
        plain.maintainFully();
        assertSound();
        assertThat(cache.stats().liveBytes()).isZero();
        assertThat(cache.stats().datasetBytes()).isZero();
    }

    /** Checks a hash that {@link #makeHash} has made, or one like it. */
    public void assertHash(String name, int fields, int valueBytes) {
        Map<String, String> all = Objects.requireNonNull(hash(name));
        assertThat(all).hasSize(fields);
        String value = name.substring(0, 1).repeat(valueBytes);
        all.forEach((field, text) -> assertThat(text).isEqualTo(value));
    }

    @Override
    public void close() {
        for (long buffer : buffers) {
            LiveRanges.remove(buffer);
        }
        arena.close();
        plain.close();
    }
}
