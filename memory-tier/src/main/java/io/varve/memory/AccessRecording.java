package io.varve.memory;

import java.util.Objects;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.locality.AccessProbe;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.ReuseRecorder;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.AccessedKey;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Tells the recorder of a session's accesses, where there is one. Confined to the session's thread.
 *
 * <p>Accesses are those that renew an item's clock, and reads that miss: what LRU would see. One to a key that is read and then written counts as two, the
 * second of which moves nothing in the stack.
 */
final class AccessRecording {
    private final ShardContext context;
    private @Nullable AccessRecorder recorder;
    private @Nullable AccessProbe probe;
    /** The last class that the recorder knows: 0 where it is not told of classes. */
    private int lastClass;

    AccessRecording(ShardContext context) {
        this.context = context;
    }

    /** Looks whether accesses are recorded; once for a batch. */
    void begin() {
        AccessRecorder present = context.recorder();
        if (!Objects.equals(present, recorder)) {
            recorder = present;
            probe = present == null ? null : present.newProbe();
            lastClass = present == null ? 0 : present.classes() - 1;
        }
    }

    void read(Shard shard, Key key, Item item, boolean found, long nowMillis) {
        AccessProbe told = probe;
        if (told != null) {
            if (found) {
                read(told, shard, key, item, nowMillis);
            } else {
                readOfNothing(told, shard, key, nowMillis);
            }
        }
    }

    private void read(AccessProbe told, Shard shard, Key key, Item item, long nowMillis) {
        boolean followed = ItemLayout.isFollowedOf(item.header());
        if (told.countRead(followed)) {
            follow(item.address(), item.header(), told.read(hash(key), classOf(item.header()), bytes(shard, item),
                    deadline(item.expireAtMillis()), nowMillis, followed));
        }
    }

    private void readOfNothing(AccessProbe told, Shard shard, Key key, long nowMillis) {
        long hash = hash(key);
        if (told.countReadOfNothing(hash)) {
            told.readOfNothing(hash, Math.min(shard.penalties().classOfGone(key), lastClass), nowMillis);
        }
    }

    /** A write to an item that it has found. */
    void write(Shard shard, Key key, Item item, long nowMillis) {
        AccessProbe told = probe;
        if (told != null && told.countWrite(ItemLayout.isFollowedOf(item.header()))) {
            write(told, key, item.address(), item.header(), bytes(shard, item), item.expireAtMillis(), nowMillis);
        }
    }

    /** A write that has made an item. */
    void made(Shard shard, Key key, Item item, long nowMillis) {
        AccessProbe told = probe;
        if (told == null) {
            return;
        }
        long header = ItemLayout.header(item.address());
        if (told.countWrite(ItemLayout.isFollowedOf(header))) {
            fill(told, shard, header);
            write(told, key, item.address(), header, bytes(shard, item), item.expireAtMillis(), nowMillis);
        }
    }

    /** A write that has made an item of so many bytes. */
    void made(Shard shard, Key key, long address, int valueLength, long nowMillis) {
        AccessProbe told = probe;
        if (told == null) {
            return;
        }
        long header = ItemLayout.header(address);
        if (told.countWrite(ItemLayout.isFollowedOf(header))) {
            // Not the time that was asked for, which may be to keep that which was there.
            fill(told, shard, header);
            write(told, key, address, header,
                    Shard.usualBytes(key.length(), valueLength, ItemLayout.hasExpiryFieldsOf(header)),
                    Shard.expireAtMillis(address), nowMillis);
        }
    }

    /** An item, which a command has found before, expires at another time from now on. */
    void expires(Key key, Item item, long expireAtMillis, long nowMillis) {
        AccessRecorder told = recorder;
        if (told != null && ItemLayout.isFollowed(item.address())) {
            told.expires(hash(key), deadline(expireAtMillis), nowMillis);
        }
    }

    /** A key was to be deleted that has no item: in more memory it might have had one until now. */
    void deletedNothing(Key key, long nowMillis) {
        AccessRecorder told = recorder;
        if (told != null) {
            told.remove(hash(key), nowMillis);
        }
    }

    /** A write that has made an item ends the misses of its key, which were told as those of another class if nobody knew this one. */
    private void fill(AccessProbe told, Shard shard, long header) {
        int itemClass = classOf(header);
        int missedAs = Math.min(shard.penalties().missedAs(ItemLayout.penaltyClassOf(header)), lastClass);
        if (missedAs != itemClass) {
            told.moveMisses(missedAs, itemClass, shard.penalties().misses());
        }
    }

    private void write(AccessProbe told, Key key, long address, long header, long bytes, long expireAtMillis,
            long nowMillis) {
        boolean followed = ItemLayout.isFollowedOf(header);
        follow(address, header, told.write(hash(key), classOf(header), bytes, deadline(expireAtMillis), nowMillis,
                followed));
    }

    /** The item has this bit from now on. */
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
        return AccessedKey.hash(key.hash(), context.databases().physical(key.database()));
    }

    private static long bytes(Shard shard, Item item) {
        return item.isTree()
                ? shard.memoryUsage(item)
                : Shard.usualBytes(item.keyLength(), item.capacity(), item.expires());
    }

    /** The first millisecond at which it has expired. */
    private static long deadline(long expireAtMillis) {
        return expireAtMillis >= 0 ? expireAtMillis + 1 : ReuseRecorder.NEVER;
    }
}
