package io.varve.memory.segment;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;

/**
 * The byte layout of an item, read and written by its absolute address. Immutable: static methods only; writers hold
 * the lock of the item's shard.
 *
 * <pre>
 *  the header word, bit 0 on the right
 *
 *  63         40 39       29 28        21 20     17 16      12 11  10   9    8    7    6    5   4   3 2    0
 * +-------------+-----------+------------+---------+----------+---+----+----+----+----+----+----+-----+-----+
 * |   access    | capacity  | key length | penalty | database |pin|int.|fol.|slck|l.ca|l.ke|exp.| enc.| type|
 * |     24      |    11     |     8      |    4    |    5     | 1 | 1  | 1  | 1  | 1  | 1  | 1  |  2  |  3  |
 * +-------------+-----------+------------+---------+----------+---+----+----+----+----+----+----+-----+-----+
 *
 *  the item
 *
 * +--------+---------------------+------------+----------+-----+----------------------------------+
 * | header | expiry time | entry | key length | capacity | key | value ... slack                  |
 * |   8    |      6      |   4   |     4      |    4     |     | exactly `capacity` bytes         |
 * +--------+---------------------+------------+----------+-----+----------------------------------+
 *   always     if `exp.`           if `l.ke`    if `l.ca`
 * </pre>
 *
 * <p>A common item thus costs 8 bytes, and one with an expiry time 18. Nothing is aligned or rounded. A key of 255
 * bytes or more has its length in the 4-byte field, and 255 in the header. A capacity of 2047 bytes or more likewise
 * uses its 4-byte field.
 *
 * <p>The value's length is the capacity unless `slack` is set. If it is set, the unused bytes at the end of the
 * capacity encode their number. The last byte holds the slack if it is below 255. Otherwise it is 255 and the 4 bytes
 * before it hold the slack; a slack of 255 leaves space for them.
 *
 * <p>Type 0 marks a dead item. All fields that determine its size stay, so a walk of the segment can skip it.
 */
public final class ItemLayout {
    /** The latest expiry time that can be stored, milliseconds since the epoch. */
    public static final long MAX_EXPIRE_AT_MILLIS = Item.LATEST_EXPIRY_MILLIS;

    /** The time field of an item that has expiry fields and no expiry time. */
    private static final long NEVER_FIELD = (1L << 48) - 1;

    /** The result of {@link #expiryEntry(long)} after {@link #write}: the item is in no time bucket. */
    public static final int NO_ENTRY = -1;

    private static final int TYPE_BITS = 3;
    private static final int ENCODING_BITS = 2;
    private static final int DATABASE_BITS = 5;
    private static final int PENALTY_BITS = 4;
    private static final int KEY_LENGTH_BITS = 8;
    private static final int CAPACITY_BITS = 11;
    private static final int ACCESS_BITS = 24;

    private static final int TYPE_SHIFT = 0;
    private static final int ENCODING_SHIFT = TYPE_SHIFT + TYPE_BITS;
    private static final int EXPIRY_SHIFT = ENCODING_SHIFT + ENCODING_BITS;
    private static final int LONG_KEY_SHIFT = EXPIRY_SHIFT + 1;
    private static final int LONG_CAPACITY_SHIFT = LONG_KEY_SHIFT + 1;
    private static final int SLACK_SHIFT = LONG_CAPACITY_SHIFT + 1;
    private static final int FOLLOWED_SHIFT = SLACK_SHIFT + 1;
    private static final int INTERNAL_SHIFT = FOLLOWED_SHIFT + 1;
    private static final int PINNED_SHIFT = INTERNAL_SHIFT + 1;
    private static final int DATABASE_SHIFT = PINNED_SHIFT + 1;
    private static final int PENALTY_SHIFT = DATABASE_SHIFT + DATABASE_BITS;
    private static final int KEY_LENGTH_SHIFT = PENALTY_SHIFT + PENALTY_BITS;
    private static final int CAPACITY_SHIFT = KEY_LENGTH_SHIFT + KEY_LENGTH_BITS;
    private static final int ACCESS_SHIFT = CAPACITY_SHIFT + CAPACITY_BITS;
    static final int HEADER_BITS = ACCESS_SHIFT + ACCESS_BITS;

    private static final int TYPE_MASK = (1 << TYPE_BITS) - 1;
    private static final int ENCODING_MASK = (1 << ENCODING_BITS) - 1;
    private static final int DATABASE_MASK = (1 << DATABASE_BITS) - 1;
    private static final int PENALTY_MASK = (1 << PENALTY_BITS) - 1;
    private static final int KEY_LENGTH_MASK = (1 << KEY_LENGTH_BITS) - 1;
    private static final int CAPACITY_MASK = (1 << CAPACITY_BITS) - 1;
    private static final int ACCESS_MASK = (1 << ACCESS_BITS) - 1;

    /** The position of the followed bit in the stamp, above access bits and penalty class. */
    private static final int FOLLOWED_STAMP_SHIFT = ACCESS_BITS + PENALTY_BITS;

    /** The header bits that a new value changes. */
    private static final long REWRITTEN = (long) TYPE_MASK << TYPE_SHIFT | (long) ENCODING_MASK << ENCODING_SHIFT
            | 1L << SLACK_SHIFT;

    private static final int STRING = ItemType.STRING.code();

    public static final int MAX_ENCODING = ENCODING_MASK;
    /** The highest physical database number in an item. */
    public static final int MAX_DATABASE = DATABASE_MASK;
    public static final int MAX_PENALTY_CLASS = PENALTY_MASK;
    public static final int MAX_ACCESS = ACCESS_MASK;

    /** The longest key, and the largest capacity, in bytes, that the header itself holds. */
    public static final int MAX_SHORT_KEY = KEY_LENGTH_MASK - 1;
    static final int MAX_SHORT_CAPACITY = CAPACITY_MASK - 1;

    private static final int HEADER_BYTES = 8;
    private static final int EXPIRE_AT_OFFSET = HEADER_BYTES;
    private static final int EXPIRE_AT_BYTES = 6;
    private static final int ENTRY_OFFSET = EXPIRE_AT_OFFSET + EXPIRE_AT_BYTES;
    /** The bytes of the expiry fields: the time and the entry. */
    public static final int EXPIRY_BYTES = EXPIRE_AT_BYTES + Integer.BYTES;
    private static final int LONG_BYTES = Integer.BYTES;

    private static final int SLACK_ESCAPE = 255;
    /** A power of two; negligible for a value of 64 KB and more. */
    private static final int HEADROOM_STEP = 256;
    private static final int SLACK_ESCAPE_BYTES = 1 + Integer.BYTES;

    private ItemLayout() {}

    /**
     * The bytes of an item: header, key and capacity.
     *
     * @throws ArithmeticException from 2 GiB
     */
    public static int size(int keyLength, int capacity, boolean expiryFields) {
        return Math.toIntExact((long) headerSize(keyLength, capacity, expiryFields) + keyLength + capacity);
    }

    /** The bytes before the key. */
    public static int headerSize(int keyLength, int capacity, boolean expiryFields) {
        return HEADER_BYTES + (expiryFields ? EXPIRY_BYTES : 0) + (keyLength > MAX_SHORT_KEY ? LONG_BYTES : 0)
                + (capacity > MAX_SHORT_CAPACITY ? LONG_BYTES : 0);
    }

    /**
     * The bytes to reserve for header and key before the value of a large item, whatever its capacity. They are rounded
     * up, so that a value can move to another key of about that length.
     */
    public static int largeHeadroom(int keyLength) {
        return HEADER_BYTES + EXPIRY_BYTES + LONG_BYTES + LONG_BYTES + keyLength + HEADROOM_STEP - 1
                & -HEADROOM_STEP;
    }

    /**
     * Writes all of an item but the bytes of its key and its value, which belong at {@link #keyAddress} and
     * {@link #valueAddress}. The item gets no expiry time and is in no time bucket.
     *
     * @param stamp {@link #stamp(int, int)}
     */
    public static void write(long address, ItemType type, int encoding, int database, int keyLength, int valueLength,
            int capacity, boolean expiryFields, int stamp) {
        assert keyLength >= 0 && valueLength >= 0 && valueLength <= capacity : keyLength + " " + valueLength + " "
                + capacity;
        Memory.putLong(address,
                header(type.code(), encoding, database, keyLength, capacity, expiryFields, stamp));
        long next = address + HEADER_BYTES;
        if (expiryFields) {
            Memory.putUnsigned48(next, NEVER_FIELD);
            Memory.putInt(next + EXPIRE_AT_BYTES, NO_ENTRY);
            next += EXPIRY_BYTES;
        }
        if (keyLength > MAX_SHORT_KEY) {
            Memory.putInt(next, keyLength);
            next += LONG_BYTES;
        }
        if (capacity > MAX_SHORT_CAPACITY) {
            Memory.putInt(next, capacity);
        }
        if (valueLength != capacity) {
            valueLength(address, valueLength);
        }
    }

    private static long header(int type, int encoding, int database, int keyLength, int capacity, boolean expiryFields,
            int stamp) {
        assert encoding >= 0 && encoding <= MAX_ENCODING : encoding;
        assert database >= 0 && database <= MAX_DATABASE : database;
        boolean longKey = keyLength > MAX_SHORT_KEY;
        boolean longCapacity = capacity > MAX_SHORT_CAPACITY;
        return (long) type << TYPE_SHIFT
                | (long) (encoding & ENCODING_MASK) << ENCODING_SHIFT
                | (expiryFields ? 1L << EXPIRY_SHIFT : 0)
                | (longKey ? 1L << LONG_KEY_SHIFT : 0)
                | (longCapacity ? 1L << LONG_CAPACITY_SHIFT : 0)
                | (long) (database & DATABASE_MASK) << DATABASE_SHIFT
                | (long) (stamp >>> FOLLOWED_STAMP_SHIFT & 1) << FOLLOWED_SHIFT
                | (long) (stamp >>> ACCESS_BITS & PENALTY_MASK) << PENALTY_SHIFT
                | (long) (longKey ? KEY_LENGTH_MASK : keyLength) << KEY_LENGTH_SHIFT
                | (long) (longCapacity ? CAPACITY_MASK : capacity) << CAPACITY_SHIFT
                | (long) (stamp & ACCESS_MASK) << ACCESS_SHIFT;
    }

    /**
     * The header word. A caller that needs several of its fields reads it once and passes it to the methods with a
     * header argument. Each read is hundreds of nodes to C2, which stops inlining into a method of 18,000 nodes
     * (decision 34).
     */
    public static long header(long address) {
        return Memory.getLong(address);
    }

    /** Writes the header word. SAFETY: it must be derived from the item's present header. */
    public static void header(long address, long header) {
        Memory.putLong(address, header);
    }

    /** The type's code, or {@link ItemType#DEAD} for a dead item. */
    public static int type(long address) {
        return typeOf(header(address));
    }

    /**
     * Whether the item is the root item of a large collection: its type is not a string and its encoding is
     * {@link Item#TREE}.
     */
    public static boolean isTree(long address) {
        return isTreeOf(header(address));
    }

    /** Whether an item with this header is the root item of a large collection. */
    public static boolean isTreeOf(long header) {
        return encodingOf(header) == Item.TREE && typeOf(header) > STRING;
    }

    public static boolean isDead(long address) {
        return type(address) == ItemType.DEAD;
    }

    /** Marks the item as dead, so that a walk skips it; its size stays. */
    public static void markDead(long address) {
        set(address, TYPE_SHIFT, TYPE_MASK, ItemType.DEAD);
    }

    public static int encoding(long address) {
        return encodingOf(header(address));
    }

    public static void encoding(long address, int encoding) {
        set(address, ENCODING_SHIFT, ENCODING_MASK, encoding);
    }

    /** The physical database. */
    public static int database(long address) {
        return get(address, DATABASE_SHIFT, DATABASE_MASK);
    }

    /**
     * A stamp, the data that an item keeps when it moves: its access bits and its penalty class. The followed bit is
     * not set.
     *
     * @param access 0 to {@link #MAX_ACCESS}
     * @param penaltyClass 0 to {@link #MAX_PENALTY_CLASS}
     */
    public static int stamp(int access, int penaltyClass) {
        assert access >= 0 && access <= MAX_ACCESS : access;
        assert penaltyClass >= 0 && penaltyClass <= MAX_PENALTY_CLASS : penaltyClass;
        return penaltyClass << ACCESS_BITS | access;
    }

    /** The {@linkplain #stamp(int, int) stamp} of an item, for its replacement. */
    public static int stamp(long address) {
        return stamp(access(address), penaltyClass(address)) | get(address, FOLLOWED_SHIFT, 1) << FOLLOWED_STAMP_SHIFT;
    }

    public static int penaltyClass(long address) {
        return penaltyClassOf(header(address));
    }

    /** The class of an item with this header. */
    public static int penaltyClassOf(long header) {
        return (int) (header >>> PENALTY_SHIFT) & PENALTY_MASK;
    }

    /**
     * Sets the penalty class. SAFETY: the class of an item that was {@linkplain Segments#itemWritten accounted for} is
     * counted by its segments; use {@link Segments#penaltyClass}.
     */
    public static void penaltyClass(long address, int penaltyClass) {
        set(address, PENALTY_SHIFT, PENALTY_MASK, penaltyClass);
    }

    /** The 24 bits that belong to the eviction policy: a clock, a frequency or a residence. */
    public static int access(long address) {
        return accessOf(header(address));
    }

    /** The access bits of an item with this header. */
    public static int accessOf(long header) {
        return (int) (header >>> ACCESS_SHIFT);
    }

    /** This header with other access bits. */
    public static long withAccess(long header, int access) {
        return header & ~((long) ACCESS_MASK << ACCESS_SHIFT) | (long) access << ACCESS_SHIFT;
    }

    public static void access(long address, int access) {
        set(address, ACCESS_SHIFT, ACCESS_MASK, access);
    }

    /**
     * Whether the recorder may wait for the next access to the item's key: see
     * {@link io.varve.memory.locality.AccessProbe}.
     */
    public static boolean isFollowed(long address) {
        return isFollowedOf(header(address));
    }

    /** Whether the followed bit of this header is set. */
    public static boolean isFollowedOf(long header) {
        return bit(header, FOLLOWED_SHIFT) != 0;
    }

    public static void followed(long address, boolean followed) {
        header(address, withFollowed(header(address), followed));
    }

    /** This header with another followed bit. */
    public static long withFollowed(long header, boolean followed) {
        return header & ~(1L << FOLLOWED_SHIFT) | (followed ? 1L : 0) << FOLLOWED_SHIFT;
    }

    /** Whether the item is a part of a collection, reached through its owner and not through the index. */
    public static boolean isInternal(long address) {
        return get(address, INTERNAL_SHIFT, 1) != 0;
    }

    public static void internal(long address, boolean internal) {
        set(address, INTERNAL_SHIFT, 1, internal ? 1 : 0);
    }

    /** Whether the item is never evicted. */
    public static boolean isPinned(long address) {
        return get(address, PINNED_SHIFT, 1) != 0;
    }

    /** Pins or unpins the item. SAFETY: pinned items are counted; use {@code ShardPins}. */
    public static void pinned(long address, boolean pinned) {
        set(address, PINNED_SHIFT, 1, pinned ? 1 : 0);
    }

    /** Whether the item has expiry fields, used or not. */
    public static boolean hasExpiryFields(long address) {
        return hasExpiryFieldsOf(header(address));
    }

    /** Whether an item with this header has expiry fields. */
    public static boolean hasExpiryFieldsOf(long header) {
        return bit(header, EXPIRY_SHIFT) != 0;
    }

    /** The expiry field in milliseconds since the epoch, or {@link Item#NEVER}. */
    public static long expireAtMillis(long address) {
        return expireAtMillisOf(address, header(address));
    }

    /** @param header the item's header */
    public static long expireAtMillisOf(long address, long header) {
        if (!hasExpiryFieldsOf(header)) {
            return Item.NEVER;
        }
        // The read includes the first bytes of the entry.
        long field = Memory.getLong(address + EXPIRE_AT_OFFSET) & NEVER_FIELD;
        return field == NEVER_FIELD ? Item.NEVER : field;
    }

    /**
     * Writes the expiry field. Only if {@link #hasExpiryFields}.
     *
     * @param expireAtMillis 0 to {@link #MAX_EXPIRE_AT_MILLIS}, or {@link Item#NEVER}
     */
    public static void expireAtMillis(long address, long expireAtMillis) {
        assert hasExpiryFields(address);
        assert expireAtMillis >= Item.NEVER && expireAtMillis <= MAX_EXPIRE_AT_MILLIS : expireAtMillis;
        // NEVER is -1, whose low 48 bits are NEVER_FIELD.
        Memory.putUnsigned48(address + EXPIRE_AT_OFFSET, expireAtMillis);
    }

    /** The id of the item's expiry entry. Only if {@link #hasExpiryFields}. */
    public static int expiryEntry(long address) {
        assert hasExpiryFields(address);
        return Memory.getInt(address + ENTRY_OFFSET);
    }

    public static void expiryEntry(long address, int entry) {
        assert hasExpiryFields(address);
        Memory.putInt(address + ENTRY_OFFSET, entry);
    }

    /**
     * Inserts expiry fields in place into an item that has none: everything after its header moves up by
     * {@link #EXPIRY_BYTES}. SAFETY: those bytes behind its end must already belong to the item
     * ({@link Segments#extendTail}).
     */
    public static void insertExpiryFields(long address) {
        assert !hasExpiryFields(address);
        long header = Memory.getLong(address);
        Memory.copy(address + EXPIRE_AT_OFFSET, address + EXPIRE_AT_OFFSET + EXPIRY_BYTES,
                size(address) - HEADER_BYTES);
        Memory.putLong(address, header | 1L << EXPIRY_SHIFT);
        Memory.putUnsigned48(address + EXPIRE_AT_OFFSET, NEVER_FIELD);
        Memory.putInt(address + ENTRY_OFFSET, NO_ENTRY);
    }

    /** The length of the key in bytes. */
    public static int keyLength(long address) {
        return keyLengthOf(address, header(address));
    }

    /** @param header the item's header */
    public static int keyLengthOf(long address, long header) {
        int length = (int) (header >>> KEY_LENGTH_SHIFT) & KEY_LENGTH_MASK;
        return length <= MAX_SHORT_KEY ? length : longKeyLength(address, header);
    }

    private static int longKeyLength(long address, long header) {
        int offset = HEADER_BYTES + bit(header, EXPIRY_SHIFT) * EXPIRY_BYTES;
        return Memory.getInt(address + offset);
    }

    public static long keyAddress(long address) {
        return keyAddressOf(address, header(address));
    }

    /** @param header the item's header */
    public static long keyAddressOf(long address, long header) {
        return address + headerSizeOf(header);
    }

    /** Bytes that the value may grow to in place. */
    public static int capacity(long address) {
        return capacityOf(address, header(address));
    }

    /** @param header the item's header */
    public static int capacityOf(long address, long header) {
        int capacity = (int) (header >>> CAPACITY_SHIFT) & CAPACITY_MASK;
        return capacity <= MAX_SHORT_CAPACITY ? capacity : longCapacity(address, header);
    }

    private static int longCapacity(long address, long header) {
        int offset = HEADER_BYTES + bit(header, EXPIRY_SHIFT) * EXPIRY_BYTES
                + bit(header, LONG_KEY_SHIFT) * LONG_BYTES;
        return Memory.getInt(address + offset);
    }

    /**
     * Changes the capacity of an item whose value has no slack. The header's size must stay: both capacities are short,
     * or both are not. SAFETY: the bytes up to the new end must belong to the item.
     */
    public static void capacity(long address, int capacity) {
        long header = Memory.getLong(address);
        assert bit(header, SLACK_SHIFT) == 0;
        if (bit(header, LONG_CAPACITY_SHIFT) == 0) {
            assert isShortCapacity(capacity) : capacity;
            set(address, CAPACITY_SHIFT, CAPACITY_MASK, capacity);
        } else {
            assert !isShortCapacity(capacity) : capacity;
            int offset = HEADER_BYTES + bit(header, EXPIRY_SHIFT) * EXPIRY_BYTES
                    + bit(header, LONG_KEY_SHIFT) * LONG_BYTES;
            Memory.putInt(address + offset, capacity);
        }
    }

    /** Whether the header itself holds such a capacity. */
    public static boolean isShortCapacity(int capacity) {
        return capacity <= MAX_SHORT_CAPACITY;
    }

    /** The length of the value in bytes. */
    public static int valueLength(long address) {
        return valueLengthOf(address, header(address));
    }

    /** @param header the item's header */
    public static int valueLengthOf(long address, long header) {
        int capacity = capacityOf(address, header);
        return bit(header, SLACK_SHIFT) == 0 ? capacity : capacity - slack(valueAddressOf(address, header) + capacity);
    }

    private static int slack(long end) {
        int slack = Memory.getByte(end - 1) & 0xFF;
        return slack < SLACK_ESCAPE ? slack : Memory.getInt(end - SLACK_ESCAPE_BYTES);
    }

    /**
     * Changes the value's length; the bytes behind the new end become slack and are overwritten.
     *
     * @param newLength 0 to {@link #capacity}
     */
    public static void valueLength(long address, int newLength) {
        int slack = slackOf(address, header(address), newLength);
        set(address, SLACK_SHIFT, 1, slack == 0 ? 0 : 1);
        if (slack != 0) {
            putSlack(address, slack);
        }
    }

    /**
     * Changes type, encoding and length with one write to the header; the caller changes the value's bytes.
     *
     * @param header the item's header, with the new access bits
     * @param newLength 0 to {@link #capacity}
     */
    public static void rewrite(long address, long header, ItemType type, int encoding, int newLength) {
        assert encoding >= 0 && encoding <= MAX_ENCODING : encoding;
        int slack = slackOf(address, header, newLength);
        Memory.putLong(address,
                header & ~REWRITTEN | (long) type.code() << TYPE_SHIFT | (long) encoding << ENCODING_SHIFT
                        | (slack == 0 ? 0 : 1L << SLACK_SHIFT));
        if (slack != 0) {
            putSlack(address, slack);
        }
    }

    private static int slackOf(long address, long header, int newLength) {
        int capacity = capacityOf(address, header);
        assert newLength >= 0 && newLength <= capacity : newLength + " of " + capacity;
        return capacity - newLength;
    }

    private static void putSlack(long address, int slack) {
        long header = header(address);
        long end = valueAddressOf(address, header) + capacityOf(address, header);
        if (slack < SLACK_ESCAPE) {
            Memory.putByte(end - 1, (byte) slack);
        } else {
            Memory.putByte(end - 1, (byte) SLACK_ESCAPE);
            Memory.putInt(end - SLACK_ESCAPE_BYTES, slack);
        }
    }

    public static long valueAddress(long address) {
        return valueAddressOf(address, header(address));
    }

    /** @param header the item's header */
    public static long valueAddressOf(long address, long header) {
        return keyAddressOf(address, header) + keyLengthOf(address, header);
    }

    /** The bytes of the item: header, key and capacity. */
    public static int size(long address) {
        long header = header(address);
        return headerSizeOf(header) + keyLengthOf(address, header) + capacityOf(address, header);
    }

    /**
     * An estimate of an item's size from its header word alone, without the separate fields of long keys and large
     * capacities. A hint, read without the lock from whatever is there.
     */
    public static int peekSize(long address) {
        long header = Memory.peekLong(address);
        return headerSizeOf(header) + ((int) (header >>> KEY_LENGTH_SHIFT) & KEY_LENGTH_MASK)
                + ((int) (header >>> CAPACITY_SHIFT) & CAPACITY_MASK);
    }

    /** The most bytes of an item whose header holds the lengths of key and capacity. */
    public static int maxShortSize() {
        return HEADER_BYTES + EXPIRY_BYTES + KEY_LENGTH_MASK + CAPACITY_MASK;
    }

    /** The key's length in a header that {@link #shortSizeOf} accepts. */
    public static int shortKeyLengthOf(long header) {
        return (int) (header >>> KEY_LENGTH_SHIFT) & KEY_LENGTH_MASK;
    }

    /** The bytes of an item with this header; -1 if the header itself does not hold the lengths of key and capacity. */
    public static int shortSizeOf(long header) {
        if ((header & (1L << LONG_KEY_SHIFT | 1L << LONG_CAPACITY_SHIFT)) != 0) {
            return -1;
        }
        return headerSizeOf(header) + ((int) (header >>> KEY_LENGTH_SHIFT) & KEY_LENGTH_MASK)
                + ((int) (header >>> CAPACITY_SHIFT) & CAPACITY_MASK);
    }

    /** Computes the size without a branch, from the bits for the optional fields. */
    private static int headerSizeOf(long header) {
        return HEADER_BYTES + bit(header, EXPIRY_SHIFT) * EXPIRY_BYTES
                + (bit(header, LONG_KEY_SHIFT) + bit(header, LONG_CAPACITY_SHIFT)) * LONG_BYTES;
    }

    /** The type's code of an item with this header. */
    public static int typeOf(long header) {
        return (int) (header >>> TYPE_SHIFT) & TYPE_MASK;
    }

    /** The encoding of an item with this header. */
    public static int encodingOf(long header) {
        return (int) (header >>> ENCODING_SHIFT) & ENCODING_MASK;
    }

    private static int bit(long header, int shift) {
        return (int) (header >>> shift) & 1;
    }

    private static int get(long address, int shift, int mask) {
        return (int) (Memory.getLong(address) >>> shift) & mask;
    }

    private static void set(long address, int shift, int mask, int value) {
        assert (value & mask) == value : value + " does not fit into a field of mask " + mask;
        Memory.putLong(address, Memory.getLong(address) & ~((long) mask << shift) | (long) value << shift);
    }
}
