package io.varve.memory.learning;

import java.util.Objects;

import io.varve.memory.hotkeys.HotKeyProbe;
import io.varve.memory.hotkeys.HotKeys;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.locality.AccessProbe;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.ItemFootprint;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.learning.AccessedKey;
import org.jspecify.annotations.Nullable;

/**
 * Reports a session's accesses to the access recorder, if there is one. Confined to the session's thread.
 *
 * <p>An access is either one that renews an item's clock or a read that misses: the accesses that LRU would see. A
 * command that reads a key and then writes it counts as two accesses. The second does not change the LRU stack.
 */
public final class AccessRecording {
    private final ShardContext context;
    private @Nullable AccessRecorder recorder;
    private @Nullable AccessProbe probe;
    private @Nullable HotKeys hotKeys;
    private @Nullable HotKeyProbe hotKeyProbe;
    /** The highest class number of the recorder; 0 if it does not distinguish classes. */
    private int lastClass;

    public AccessRecording(ShardContext context) {
        this.context = context;
    }

    /** Reads once per batch whether accesses are recorded. */
    public void begin() {
        AccessRecorder present = context.recorder();
        if (!Objects.equals(present, recorder)) {
            recorder = present;
            probe = present == null ? null : present.newProbe();
            lastClass = present == null ? 0 : present.classes() - 1;
        }
        HotKeys wanted = context.hotKeys();
        if (!Objects.equals(wanted, hotKeys)) {
            hotKeys = wanted;
            hotKeyProbe = wanted == null ? null : wanted.newProbe();
        }
    }

    /** Counts a read for the most read keys. */
    public void countRead(Key key, boolean found) {
        HotKeyProbe present = hotKeyProbe;
        if (present != null && found && present.isSampled()) {
            present.sampled(key, context.databases.physical(key.database()));
        }
    }

    /** Whether accesses of this batch are recorded, for which the shard's lock must be held. */
    public boolean isRecording() {
        return probe != null;
    }

    public void read(Shard shard, Key key, Item item, boolean found, long nowMillis) {
        AccessProbe present = probe;
        if (present != null) {
            if (found) {
                read(present, shard, key, item, nowMillis);
            } else {
                readMiss(present, shard, key, nowMillis);
            }
        }
    }

    private void read(AccessProbe present, Shard shard, Key key, Item item, long nowMillis) {
        boolean followed = ItemLayout.isFollowedOf(item.header());
        if (present.countRead(followed)) {
            follow(item.address(), item.header(), present.read(hash(key), classOf(item.header()), bytes(shard, item),
                    deadline(item.expireAtMillis()), nowMillis, followed));
        }
    }

    private void readMiss(AccessProbe present, Shard shard, Key key, long nowMillis) {
        long hash = hash(key);
        if (present.countReadMiss(hash)) {
            present.readMiss(hash, Math.min(shard.penalties().classOfAbsent(key), lastClass), nowMillis);
        }
    }

    /** Reports a write to an item that the command has found. */
    public void write(Shard shard, Key key, Item item, long nowMillis) {
        AccessProbe present = probe;
        if (present != null && present.countWrite(ItemLayout.isFollowedOf(item.header()))) {
            write(present, key, item.address(), item.header(), bytes(shard, item), item.expireAtMillis(), nowMillis);
        }
    }

    /** Reports a write that has created an item. */
    public void made(Shard shard, Key key, Item item, long nowMillis) {
        AccessProbe present = probe;
        if (present == null) {
            return;
        }
        long header = ItemLayout.header(item.address());
        if (present.countWrite(ItemLayout.isFollowedOf(header))) {
            fill(present, shard, header);
            write(present, key, item.address(), header, bytes(shard, item), item.expireAtMillis(), nowMillis);
        }
    }

    /** Reports a write that has created an item with a value of {@code valueLength} bytes. */
    public void made(Shard shard, Key key, long address, int valueLength, long nowMillis) {
        AccessProbe present = probe;
        if (present == null) {
            return;
        }
        long header = ItemLayout.header(address);
        if (present.countWrite(ItemLayout.isFollowedOf(header))) {
            // Not the caller's argument, which may mean to keep the present expiry time.
            fill(present, shard, header);
            write(present, key, address, header,
                    ItemFootprint.usualBytes(key.length(), valueLength, ItemLayout.hasExpiryFieldsOf(header)),
                    Shard.expireAtMillis(address), nowMillis);
        }
    }

    /** Reports a new expiry time of an item that the command has found. */
    public void expires(Key key, Item item, long expireAtMillis, long nowMillis) {
        AccessRecorder present = recorder;
        if (present != null && ItemLayout.isFollowed(item.address())) {
            present.expires(hash(key), deadline(expireAtMillis), nowMillis);
        }
    }

    /** Reports the deletion of a key without an item: with more memory it might have had one until then. */
    public void deletedAbsent(Key key, long nowMillis) {
        AccessRecorder present = recorder;
        if (present != null) {
            present.remove(hash(key), nowMillis);
        }
    }

    /**
     * Ends the misses of the key of a new item. If its class was unknown, they were reported for another class and are
     * moved.
     */
    private void fill(AccessProbe present, Shard shard, long header) {
        int itemClass = classOf(header);
        int missClass = Math.min(shard.penalties().missClass(ItemLayout.penaltyClassOf(header)), lastClass);
        if (missClass != itemClass) {
            present.moveMisses(missClass, itemClass, shard.penalties().misses());
        }
    }

    private void write(AccessProbe present, Key key, long address, long header, long bytes, long expireAtMillis,
            long nowMillis) {
        boolean followed = ItemLayout.isFollowedOf(header);
        follow(address, header, present.write(hash(key), classOf(header), bytes, deadline(expireAtMillis), nowMillis,
                followed));
    }

    /** Stores the item's new followed bit. */
    private static void follow(long address, long header, boolean followed) {
        long noted = ItemLayout.withFollowed(header, followed);
        if (noted != header) {
            ItemLayout.header(address, noted);
        }
    }

    private int classOf(long header) {
        return Math.min(ItemLayout.penaltyClassOf(header), lastClass);
    }

    private long hash(Key key) {
        return AccessedKey.hash(key.hash(), context.databases.physical(key.database()));
    }

    private static long bytes(Shard shard, Item item) {
        return item.isTree()
                ? shard.memoryUsage(item)
                : ItemFootprint.usualBytes(item.keyLength(), item.capacity(), item.expires());
    }

    /** The first millisecond at which the item has expired. */
    private static long deadline(long expireAtMillis) {
        return expireAtMillis >= 0 ? expireAtMillis + 1 : ReuseRecorder.NEVER;
    }
}
