package io.varve.server.command;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.PackedHash;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;

/**
 * How fields get into a hash's item: the room is made first, because making it may move the item, and then they are
 * written. Immutable: static methods only.
 */
final class HashFields {
    private static final int MAX_HASH_BYTES = Integer.MAX_VALUE - 16;

    private HashFields() {}

    /**
     * Puts one field into the hash at the command's first key.
     *
     * @param present whether the hash is there; {@code item} then looks at it
     * @return how many fields are new
     */
    static int put(Invocation call, Item item, boolean present, long field, int fieldLength, long value,
            int valueLength) {
        CacheSession session = call.session();
        Key key = call.keyAt(0);
        boolean longEntry = isLong(call, fieldLength, valueLength);
        if (!present) {
            create(call, item, PackedHash.entryBytes(fieldLength, valueLength), encoding(call, longEntry, 1));
            PackedHash.append(item.valueAddress(), PackedHash.EMPTY_BYTES, field, fieldLength, value, valueLength);
            session.changed(key, Change.SET);
            return 1;
        }
        int oldLength = item.valueLength();
        long entry = PackedHash.find(item.valueAddress(), oldLength, field, fieldLength);
        boolean added = entry == PackedHash.NONE;
        long offset = entry - item.valueAddress();
        long grown = PackedHash.entryBytes(fieldLength, valueLength) - (added ? 0 : PackedHash.entryBytes(entry));
        int count = PackedHash.count(item.valueAddress()) + (added ? 1 : 0);
        int encoding = item.encoding() | encoding(call, longEntry, count);
        makeRoom(call, item, encoding, Math.max(0, grown));
        long hash = item.valueAddress();
        int newLength = added
                ? PackedHash.append(hash, oldLength, field, fieldLength, value, valueLength)
                : PackedHash.replace(hash, oldLength, hash + offset, value, valueLength);
        finish(call, item, encoding, newLength);
        return added ? 1 : 0;
    }

    /** Puts the fields and values from argument 2 on into the hash; see {@link #put}. */
    static int putArguments(Invocation call, Item item, boolean present) {
        boolean longEntry = false;
        long grown = 0;
        for (int i = 2; i < call.argumentCount(); i += 2) {
            int fieldLength = call.argumentLength(i);
            int valueLength = call.argumentLength(i + 1);
            longEntry |= isLong(call, fieldLength, valueLength);
            long entry = present
                    ? PackedHash.find(item.valueAddress(), item.valueLength(), call.argumentAddress(i),
                            fieldLength)
                    : PackedHash.NONE;
            long more = PackedHash.entryBytes(fieldLength, valueLength)
                    - (entry == PackedHash.NONE ? 0 : PackedHash.entryBytes(entry));
            // A field that is named twice is counted twice: the sum is what is needed at most on the way.
            grown += Math.max(0, more);
        }
        int length = PackedHash.EMPTY_BYTES;
        if (present) {
            length = item.valueLength();
            makeRoom(call, item, item.encoding(), grown);
        } else {
            create(call, item, grown, encoding(call, longEntry, 0));
        }
        int oldCount = PackedHash.count(item.valueAddress());
        length = write(call, item.valueAddress(), length);
        int count = PackedHash.count(item.valueAddress());
        finish(call, item, item.encoding() | encoding(call, longEntry, count), length);
        return count - oldCount;
    }

    private static int write(Invocation call, long hash, int oldLength) {
        int length = oldLength;
        for (int i = 2; i < call.argumentCount(); i += 2) {
            long field = call.argumentAddress(i);
            int fieldLength = call.argumentLength(i);
            long value = call.argumentAddress(i + 1);
            int valueLength = call.argumentLength(i + 1);
            long entry = PackedHash.find(hash, length, field, fieldLength);
            length = entry == PackedHash.NONE
                    ? PackedHash.append(hash, length, field, fieldLength, value, valueLength)
                    : PackedHash.replace(hash, length, entry, value, valueLength);
        }
        return length;
    }

    private static void create(Invocation call, Item item, long entriesBytes, int encoding) {
        int length = checked(PackedHash.EMPTY_BYTES + entriesBytes);
        call.session().put(call.keyAt(0), item, ItemType.HASH, encoding, length, length, Item.NEVER);
        PackedHash.clear(item.valueAddress());
    }

    /**
     * Makes a hash fit to be written, with room for {@code more} bytes. To be called before any write in place, even
     * one that needs no room: the memory may be shared with a reply in flight, and the hash then moves away from it.
     *
     * <p>A hash that grows and has to move gets a quarter more than it needs, so that a row of new fields moves it
     * rarely.
     */
    static void makeRoom(Invocation call, Item item, int encoding, long more) {
        int length = checked(item.valueLength() + more);
        int capacity = more == 0 ? length : (int) Math.min(MAX_HASH_BYTES, length + (long) (length >>> 2));
        call.session().resize(call.keyAt(0), item, encoding, length, capacity);
    }

    private static void finish(Invocation call, Item item, int encoding, int length) {
        CacheSession session = call.session();
        Key key = call.keyAt(0);
        if (length != item.valueLength()) {
            session.resize(key, item, encoding, length, length);
        } else if (encoding != item.encoding()) {
            session.encoding(key, item, encoding);
        }
        session.changed(key, Change.SET);
    }

    private static int checked(long length) {
        if (length > MAX_HASH_BYTES) {
            throw CacheFullException.INSTANCE;
        }
        return (int) length;
    }

    private static boolean isLong(Invocation call, int fieldLength, int valueLength) {
        return Math.max(fieldLength, valueLength) > call.server().config().hashMaxListpackValueBytes();
    }

    private static int encoding(Invocation call, boolean longEntry, int count) {
        return longEntry || count > call.server().config().hashMaxListpackEntries()
                ? Encodings.HASH_HASHTABLE
                : Encodings.HASH_LISTPACK;
    }
}
