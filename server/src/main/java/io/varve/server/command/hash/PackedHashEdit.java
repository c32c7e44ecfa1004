package io.varve.server.command.hash;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.PackedHash;
import io.varve.memory.collection.TimedHashLayout;
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
 *
 * <p>If fields have times, a word stands in front of the hash ({@link TimedHashLayout}). Fields that are due are passed over, and are
 * not found; one that gets a value takes its old place.
 */
final class PackedHashEdit {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;
    private static final int NOWHERE = 0;

    private final Invocation call;
    private final Item item;
    private Key key = new Key();
    private boolean present;
    /** Bytes in front of the hash. */
    private int base;
    /** Bytes of the hash, while it is changed less than its item has. */
    private int length;
    /** How many fields are due. */
    private int due;
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
        base = there && item.encoding() == Item.TIMED ? TimedHashLayout.WORD_BYTES : 0;
        length = there ? item.valueLength() - base : PackedHash.EMPTY_BYTES;
        due = base == 0 ? 0 : PackedHash.countDue(hash(), length, call.now());
        here = NOWHERE;
    }

    /** How many fields; 0 if it is not there. */
    int size() {
        return present ? PackedHash.count(hash()) - due : 0;
    }

    /** Whether there are fields that are due. */
    boolean hides() {
        return due > 0;
    }

    /** Whether fields may have times. */
    boolean keepsTimes() {
        return base != 0;
    }

    /** What OBJECT ENCODING tells by, times apart. */
    int encoding() {
        return !present
                ? Encodings.HASH_LISTPACK
                : base == 0 ? item.encoding() : TimedHashLayout.encoding(item.valueAddress());
    }

    /** Bytes of its value, or of that of an empty hash. */
    int bytes() {
        return base + length;
    }

    // --- the cursor

    private long hash() {
        return item.valueAddress() + base;
    }

    private long entry() {
        assert here != NOWHERE;
        return hash() + here;
    }

    private boolean goTo(long entry) {
        here = entry == PackedHash.NONE ? NOWHERE : (int) (entry - hash());
        return here != NOWHERE;
    }

    /** Goes to a field; false if it is not there, or due: then the cursor is where it may be written, and is not to be read. */
    boolean find(long field, int fieldLength) {
        rank = Long.MAX_VALUE;
        return goTo(present ? PackedHash.find(hash(), length, field, fieldLength) : PackedHash.NONE) && !isDue();
    }

    private boolean isDue() {
        return due > 0 && PackedHash.isDue(entry(), call.now());
    }

    boolean first() {
        rank = 0;
        return goToLasting(present ? PackedHash.first(hash(), length) : PackedHash.NONE);
    }

    boolean next() {
        rank++;
        return goToLasting(PackedHash.next(hash(), length, entry()));
    }

    /** Goes to an entry, or to the next that is not due. */
    private boolean goToLasting(long entry) {
        boolean there = goTo(entry);
        while (there && isDue()) {
            there = goTo(PackedHash.next(hash(), length, entry()));
        }
        return there;
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

    /** When the field is due, or {@link Item#NEVER}. */
    long time() {
        return PackedHash.time(entry());
    }

    /** When the first of all that are not due is, or {@link Item#NEVER}. */
    long earliest() {
        return base == 0 ? Item.NEVER : PackedHash.earliest(hash(), length, call.now());
    }

    /** Puts all fields, also those that are due, into a tree that is being made, and keeps times if this does. */
    void copyTo(HashTree tree) {
        boolean more = goTo(present ? PackedHash.first(hash(), length) : PackedHash.NONE);
        while (more) {
            tree.put(fieldAddress(), fieldLength(), valueAddress(), valueLength(), time());
            more = goTo(PackedHash.next(hash(), length, entry()));
        }
    }

    // --- change

    /**
     * How many bytes more it would have with this value, and a time or {@link Item#NEVER}, in the field that was sought last, there or
     * not; negative: less.
     */
    long moreBytes(int fieldLength, int valueLength, long time) {
        return PackedHash.entryBytes(fieldLength, valueLength, time)
                - (here == NOWHERE ? 0 : PackedHash.entryBytes(entry()));
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
        long needed = base + length + more;
        if (needed > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
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

    /** Gives the field that was sought last its value, and a time or {@link Item#NEVER}. There is room for it. */
    void write(long field, int fieldLength, long value, int valueLength, long time) {
        if (here == NOWHERE) {
            length = PackedHash.append(hash(), length, field, fieldLength, value, valueLength, time);
        } else {
            due -= isDue() ? 1 : 0;
            length = PackedHash.replace(hash(), length, entry(), value, valueLength, time);
        }
        here = NOWHERE;
    }

    /** Gives the cursor's field a time, or takes it away ({@link Item#NEVER}). There is room for it. */
    void time(long time) {
        length = PackedHash.time(hash(), length, entry(), time);
        here = NOWHERE;
    }

    /**
     * Makes it fit for times of fields.
     *
     * @param earliest of them; milliseconds since the epoch
     */
    void keepTimes(long earliest) {
        call.session().keepFieldTimes(key, item, earliest);
        open(key, true);
    }

    /** Removes the cursor's field. */
    void remove() {
        length = PackedHash.remove(hash(), length, entry());
        here = NOWHERE;
    }

    /** Ends a change. */
    void finish(int encoding) {
        if (base + length != item.valueLength()) {
            call.session().resize(key, item, base == 0 ? encoding : Item.TIMED, base + length, base + length);
        }
        if (encoding == encoding()) {
            return;
        }
        if (base == 0) {
            call.session().encoding(key, item, encoding);
        } else {
            TimedHashLayout.encoding(item.valueAddress(), encoding);
        }
    }
}
