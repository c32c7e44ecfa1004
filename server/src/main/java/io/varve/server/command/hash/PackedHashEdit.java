package io.varve.server.command.hash;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.collection.packed.PackedHash;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.Encodings;
import io.varve.server.persistence.ChangeRecorder;

/**
 * A packed hash, stored as the value of one item: a cursor over its fields, and changes. Confined to its event loop;
 * reused from command to command. {@link HashValue} documents its contract and publishes its changes.
 *
 * <p>A change begins with {@link #reserve}, which may move the item, and ends with {@link #finish}.
 *
 * <p>If fields have expiry times, a word precedes the hash ({@link TimedHashLayout}). Expired fields are skipped and
 * not found; a new value for such a field takes its old position.
 */
final class PackedHashEdit {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;
    private static final int NOWHERE = 0;

    private final CommandContext context;
    private final Item item;
    private Key key = new Key();
    private boolean present;
    /** Bytes in front of the hash. */
    private int base;
    /** Length of the hash, bytes; during a change it may be less than the item holds. */
    private int length;
    /** Number of expired fields. */
    private int due;
    /**
     * Offset of the cursor's entry in the value, and the number of fields before it if iteration moved the cursor
     * there.
     */
    private int here;
    private long rank;

    PackedHashEdit(CommandContext context, Item item) {
        this.context = context;
        this.item = item;
    }

    /** Opens the hash of a key; the item points at it if it exists. */
    void open(Key at, boolean there) {
        key = at;
        present = there;
        base = there && item.encoding() == Item.TIMED ? TimedHashLayout.WORD_BYTES : 0;
        length = there ? item.valueLength() - base : PackedHash.EMPTY_BYTES;
        due = base == 0 ? 0 : PackedHash.countDue(hash(), length, context.expiryMillis());
        here = NOWHERE;
    }

    /** Number of fields; 0 if it does not exist. */
    int size() {
        return present ? PackedHash.count(hash()) - due : 0;
    }

    /** Whether any fields have expired. */
    boolean hides() {
        return due > 0;
    }

    /** Number of expired fields. */
    int due() {
        return due;
    }

    /** Adds the names of the expired fields to a command. */
    void nameDue(ChangeRecorder command) {
        for (long entry = PackedHash.first(hash(), length); entry != PackedHash.NONE; entry = PackedHash.next(hash(),
                length, entry)) {
            if (PackedHash.isDue(entry, context.expiryMillis())) {
                command.argument(PackedHash.fieldAddress(entry), PackedHash.fieldLength(entry));
            }
        }
    }

    /** Whether fields may have expiry times. */
    boolean keepsTimes() {
        return base != 0;
    }

    /** The encoding for OBJECT ENCODING, without regard to expiry times. */
    int encoding() {
        return !present
                ? Encodings.HASH_LISTPACK
                : base == 0 ? item.encoding() : TimedHashLayout.encoding(item.valueAddress());
    }

    /** Length of its value, bytes, or of an empty hash's. */
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

    private boolean moveTo(long entry) {
        here = entry == PackedHash.NONE ? NOWHERE : (int) (entry - hash());
        return here != NOWHERE;
    }

    /**
     * Moves the cursor to a field; false if it does not exist or has expired. For an expired field, the cursor marks
     * the position for a write and must not be read.
     */
    boolean find(long field, int fieldLength) {
        rank = Long.MAX_VALUE;
        return moveTo(present ? PackedHash.find(hash(), length, field, fieldLength) : PackedHash.NONE) && !isDue();
    }

    private boolean isDue() {
        return due > 0 && PackedHash.isDue(entry(), context.expiryMillis());
    }

    boolean first() {
        rank = 0;
        return moveToUnexpired(present ? PackedHash.first(hash(), length) : PackedHash.NONE);
    }

    boolean next() {
        rank++;
        return moveToUnexpired(PackedHash.next(hash(), length, entry()));
    }

    /** Moves the cursor to an entry, or to the next one that has not expired. */
    private boolean moveToUnexpired(long entry) {
        boolean there = moveTo(entry);
        while (there && isDue()) {
            there = moveTo(PackedHash.next(hash(), length, entry()));
        }
        return there;
    }

    /** Moves the cursor to the field of this rank; increasing ranks walk over each field once. */
    boolean seek(long number) {
        boolean there = here != NOWHERE && rank <= number || first();
        while (there && rank < number) {
            there = next();
        }
        return there;
    }

    /** The position of the cursor, for {@link #moveToPosition}. */
    int position() {
        return here;
    }

    /** Moves the cursor to a position for reading; iteration cannot continue from there. */
    void moveToPosition(int place) {
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

    /** Expiry time of the field, or {@link Item#NEVER}. */
    long time() {
        return PackedHash.time(entry());
    }

    /** The earliest expiry time of the unexpired fields, or {@link Item#NEVER}. */
    long earliest() {
        return base == 0 ? Item.NEVER : PackedHash.earliest(hash(), length, context.expiryMillis());
    }

    /**
     * Copies all fields, including expired ones, into a tree under construction. Keeps expiry times if the tree has
     * them.
     */
    void copyTo(HashTree tree) {
        boolean more = moveTo(present ? PackedHash.first(hash(), length) : PackedHash.NONE);
        while (more) {
            tree.put(fieldAddress(), fieldLength(), valueAddress(), valueLength(), time());
            more = moveTo(PackedHash.next(hash(), length, entry()));
        }
    }

    // --- change

    /**
     * Growth of the hash, bytes, if the field of the last {@link #find} gets a value of this length, and a time or
     * {@link Item#NEVER}. The field may not exist. Negative: the hash shrinks.
     */
    long moreBytes(int fieldLength, int valueLength, long time) {
        return PackedHash.entryBytes(fieldLength, valueLength, time)
                - (here == NOWHERE ? 0 : PackedHash.entryBytes(entry()));
    }

    /**
     * Creates the hash if needed, and makes it writable with space for {@code more} bytes. Call it before any write in
     * place, even one that needs no space. The memory may be shared with a concurrent reader, and the hash then moves
     * away from it. The cursor keeps its position.
     *
     * <p>A growing hash that has to move gets a quarter more than it needs, so that a series of new fields rarely moves
     * it.
     */
    void reserve(long more) {
        long needed = base + length + more;
        if (needed > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        if (present) {
            long capacity = more == 0 ? needed : Math.min(MAX_BYTES, needed + (needed >>> 2));
            context.session().resize(key, item, item.encoding(), (int) needed, (int) capacity);
        } else {
            context.session().put(key, item, ItemType.HASH, Encodings.HASH_LISTPACK, (int) needed, (int) needed,
                    Item.NEVER);
            PackedHash.clear(hash());
            present = true;
        }
    }

    /**
     * Writes the value of the field of the last {@link #find}, with a time or {@link Item#NEVER}. The space is
     * reserved.
     */
    void write(long field, int fieldLength, long value, int valueLength, long time) {
        if (here == NOWHERE) {
            length = PackedHash.append(hash(), length, field, fieldLength, value, valueLength, time);
        } else {
            due -= isDue() ? 1 : 0;
            length = PackedHash.replace(hash(), length, entry(), value, valueLength, time);
        }
        here = NOWHERE;
    }

    /** Sets the expiry time of the cursor's field, or removes it ({@link Item#NEVER}). The space is reserved. */
    void time(long time) {
        length = PackedHash.time(hash(), length, entry(), time);
        here = NOWHERE;
    }

    /**
     * Adds the word for expiry times of fields.
     *
     * @param earliest the earliest of them, milliseconds since the epoch
     */
    void keepTimes(long earliest) {
        context.session().keepFieldTimes(key, item, earliest);
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
            context.session().resize(key, item, base == 0 ? encoding : Item.TIMED, base + length, base + length);
        }
        if (encoding == encoding()) {
            return;
        }
        if (base == 0) {
            context.session().encoding(key, item, encoding);
        } else {
            TimedHashLayout.encoding(item.valueAddress(), encoding);
        }
    }
}
