package io.varve.server.command.hash;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.PackedHash;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.Encodings;

/**
 * A hash in the value of one item: a cursor over its fields, and how they change. Confined to its event loop; reused from command to
 * command. {@link HashValue} says what it promises, and tells of its changes.
 *
 * <p>A change begins with {@link #makeRoom}, which may move the item, and ends with {@link #finish}.
 */
final class PackedHashEdit {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;
    private static final int NOWHERE = 0;

    private final Invocation call;
    private final Item item;
    private Key key = new Key();
    private boolean present;
    /** Bytes of the hash, while it is changed less than its item has. */
    private int length;
    /** Where the cursor's entry begins in the value, and how many are in front of it if the cursor came there by walking. */
    private int here;
    private long rank;

    PackedHashEdit(Invocation call, Item item) {
        this.call = call;
        this.item = item;
    }

    /** The item looks at the hash of a key, if that is there. */
    void open(Key at, boolean there) {
        key = at;
        present = there;
        length = there ? item.valueLength() : PackedHash.EMPTY_BYTES;
        here = NOWHERE;
    }

    /** How many fields; 0 if it is not there. */
    int size() {
        return present ? PackedHash.count(hash()) : 0;
    }

    /** Bytes of its value, or of that of an empty hash. */
    int bytes() {
        return length;
    }

    // --- the cursor

    private long hash() {
        return item.valueAddress();
    }

    private long entry() {
        assert here != NOWHERE;
        return hash() + here;
    }

    private boolean goTo(long entry) {
        here = entry == PackedHash.NONE ? NOWHERE : (int) (entry - hash());
        return here != NOWHERE;
    }

    /** Goes to a field; false, and nowhere, if it is not there. */
    boolean find(long field, int fieldLength) {
        rank = Long.MAX_VALUE;
        return goTo(present ? PackedHash.find(hash(), length, field, fieldLength) : PackedHash.NONE);
    }

    boolean first() {
        rank = 0;
        return goTo(present ? PackedHash.first(hash(), length) : PackedHash.NONE);
    }

    boolean next() {
        rank++;
        return goTo(PackedHash.next(hash(), length, entry()));
    }

    /** Goes to the field that so many stand in front of; who goes upwards walks over each of them once. */
    boolean seek(long number) {
        boolean there = here != NOWHERE && rank <= number || first();
        while (there && rank < number) {
            there = next();
        }
        return there;
    }

    /** The place of the cursor, for {@link #show}. */
    int here() {
        return here;
    }

    /** Goes to a place to look at it, but not on from there. */
    void show(int place) {
        here = place;
        rank = Long.MAX_VALUE;
    }

    long fieldAddress() {
        return PackedHash.fieldAddress(entry());
    }

    int fieldLength() {
        return PackedHash.fieldLength(entry());
    }

    long valueAddress() {
        return PackedHash.valueAddress(entry());
    }

    int valueLength() {
        return PackedHash.valueLength(entry());
    }

    /** Puts all fields into a tree that is being made. */
    void copyTo(HashTree tree) {
        for (boolean more = first(); more; more = next()) {
            tree.put(fieldAddress(), fieldLength(), valueAddress(), valueLength());
        }
    }

    // --- change

    /** How many bytes more it would have with this value in the field that was sought last, there or not; negative: less. */
    long moreBytes(int fieldLength, int valueLength) {
        return PackedHash.entryBytes(fieldLength, valueLength) - (here == NOWHERE ? 0 : PackedHash.entryBytes(entry()));
    }

    /**
     * Makes the hash, and makes it fit to be written, with room for {@code more} bytes. To be called before any write in place, even
     * one that needs no room: the memory may be shared with a reader in flight, and the hash then moves away from it. The
     * cursor stays.
     *
     * <p>A hash that grows and has to move gets a quarter more than it needs, so that a row of new fields moves it
     * rarely.
     */
    void makeRoom(long more) {
        long needed = length + more;
        if (needed > MAX_BYTES) {
            throw CacheFullException.INSTANCE;
        }
        if (present) {
            long capacity = more == 0 ? needed : Math.min(MAX_BYTES, needed + (needed >>> 2));
            call.session().resize(key, item, item.encoding(), (int) needed, (int) capacity);
        } else {
            call.session().put(key, item, ItemType.HASH, Encodings.HASH_LISTPACK, (int) needed, (int) needed,
                    Item.NEVER);
            PackedHash.clear(hash());
            present = true;
        }
    }

    /** Gives the field that was sought last its value. There is room for it. */
    void write(long field, int fieldLength, long value, int valueLength) {
        length = here == NOWHERE
                ? PackedHash.append(hash(), length, field, fieldLength, value, valueLength)
                : PackedHash.replace(hash(), length, entry(), value, valueLength);
        here = NOWHERE;
    }

    /** Removes the cursor's field. */
    void remove() {
        length = PackedHash.remove(hash(), length, entry());
        here = NOWHERE;
    }

    /** Ends a change. */
    void finish(int encoding) {
        if (length != item.valueLength()) {
            call.session().resize(key, item, encoding, length, length);
        } else if (encoding != item.encoding()) {
            call.session().encoding(key, item, encoding);
        }
    }
}
