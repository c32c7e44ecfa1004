package io.varve.memory.segment;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;

/**
 * The bytes of an item, read and written by its absolute address. Immutable: static methods only; writers hold the lock
 * of the item's shard.
 *
 * <pre>
 *  the header word, bit 0 on the right
 *
 *  63         40 39       29 28        21 20     17 16      12 11  10   9    8    7    6    5   4   3 2    0
 * +-------------+-----------+------------+---------+----------+---+----+----+----+----+----+----+-----+-----+
 * |   access    | capacity  | key length | penalty | database |ext|int.|fol.|slck|l.ca|l.ke|exp.| enc.| type|
 * |     24      |    11     |     8      |    4    |    5     | 1 | 1  | 1  | 1  | 1  | 1  | 1  |  2  |  3  |
 * +-------------+-----------+------------+---------+----------+---+----+----+----+----+----+----+-----+-----+
 *
 *  the item
 *
 * +--------+---------------------+------------+----------+-----------+-----+----------------------------------+
 * | header | expiry time | entry | key length | capacity | extension | key | value ... slack                  |
 * |   8    |      6      |   4   |     4      |    4     |     8     |     | exactly `capacity` bytes         |
 * +--------+---------------------+------------+----------+-----------+-----+----------------------------------+
 *   always     if `exp.`           if `l.ke`    if `l.ca`   if `ext`
 * </pre>
 *
 * <p>So a common item costs 8 bytes, one with an expiry time 18. Nothing is aligned or rounded. A key of 255 bytes and
 * more has its length in the field of 4 bytes, and 255 in the header; a capacity of 2047 bytes and more likewise.
 *
 * <p>The value's length is the capacity, unless `slack` is set: then the unused bytes at the end of the capacity say how
 * many they are. The last byte holds the slack if it is below 255; else it is 255 and the 4 bytes before it hold it,
 * for which a slack of 255 has room.
 *
 * <p>Type 0 is a dead item: everything that its size depends on stays, so that a walk of the segment passes it.
 */
public final class ItemLayout {
    /** The latest expiry time that can be stored, milliseconds since the epoch. */
    public static final long MAX_EXPIRE_AT_MILLIS = Item.LATEST_EXPIRY_MILLIS;

    /** The time field of an item that has expiry fields and never expires. */
    private static final long NEVER_FIELD = (1L << 48) - 1;

    /** What {@link #expiryEntry(long)} answers after {@link #write}: in no time bucket. */
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
    private static final int EXTENSION_SHIFT = INTERNAL_SHIFT + 1;
    private static final int DATABASE_SHIFT = EXTENSION_SHIFT + 1;
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

    /** In the stamp, above access bits and penalty class. */
    private static final int FOLLOWED_STAMP_SHIFT = ACCESS_BITS + PENALTY_BITS;

    /** What a new value of an item changes. */
    private static final long REWRITTEN = (long) TYPE_MASK << TYPE_SHIFT | (long) ENCODING_MASK << ENCODING_SHIFT
            | 1L << SLACK_SHIFT;

    private static final int STRING = ItemType.STRING.code();

    public static final int MAX_ENCODING = ENCODING_MASK;
    /** The highest physical database that an item can name. */
    public static final int MAX_DATABASE = DATABASE_MASK;
    public static final int MAX_PENALTY_CLASS = PENALTY_MASK;
    public static final int MAX_ACCESS = ACCESS_MASK;

    /** The longest key, and the largest capacity, in bytes, that the header itself holds. */
    static final int MAX_SHORT_KEY = KEY_LENGTH_MASK - 1;
    static final int MAX_SHORT_CAPACITY = CAPACITY_MASK - 1;

    private static final int HEADER_BYTES = 8;
    private static final int EXPIRE_AT_OFFSET = HEADER_BYTES;
    private static final int EXPIRE_AT_BYTES = 6;
    private static final int ENTRY_OFFSET = EXPIRE_AT_OFFSET + EXPIRE_AT_BYTES;
    /** What expiry fields add to an item: the time and the entry. */
    public static final int EXPIRY_BYTES = EXPIRE_AT_BYTES + Integer.BYTES;
    private static final int LONG_BYTES = Integer.BYTES;
    private static final int EXTENSION_BYTES = Long.BYTES;

    private static final int SLACK_ESCAPE = 255;
    /** A power of two; a value of 64 KB and more does not feel it. */
    private static final int HEAD_ROOM_STEP = 256;
    private static final int SLACK_ESCAPE_BYTES = 1 + Integer.BYTES;

    private ItemLayout() {}

    /**
     * Bytes of an item, header, key and capacity.
     *
     * @throws ArithmeticException from 2 GiB
     */
    public static int size(int keyLength, int capacity, boolean expiryFields) {
        return size(keyLength, capacity, expiryFields, false);
    }

    /** As {@link #size(int, int, boolean)}, with or without the extension of 8 bytes. */
    public static int size(int keyLength, int capacity, boolean expiryFields, boolean extension) {
        return Math.toIntExact((long) headerSize(keyLength, capacity, expiryFields, extension) + keyLength + capacity);
    }

    /** Bytes in front of the key. */
    public static int headerSize(int keyLength, int capacity, boolean expiryFields, boolean extension) {
        return HEADER_BYTES + (expiryFields ? EXPIRY_BYTES : 0) + (keyLength > MAX_SHORT_KEY ? LONG_BYTES : 0)
                + (capacity > MAX_SHORT_CAPACITY ? LONG_BYTES : 0) + (extension ? EXTENSION_BYTES : 0);
    }

    /**
     * Bytes to keep for header and key in front of the value of a large item, whatever its capacity. Rounded up, so that a value can be
     * given to another key of about that length.
     */
    public static int largeHeadRoom(int keyLength) {
        return HEADER_BYTES + EXPIRY_BYTES + LONG_BYTES + LONG_BYTES + EXTENSION_BYTES + keyLength + HEAD_ROOM_STEP - 1
                & -HEAD_ROOM_STEP;
    }

    /**
     * Writes everything of an item but the bytes of its key and its value: those go to {@link #keyAddress} and
     * {@link #valueAddress}. It has no expiry time yet, and is in no time bucket.
     *
     * @param stamp {@link #stamp(int, int)}
     */
    public static void write(long address, ItemType type, int encoding, int database, int keyLength, int valueLength,
            int capacity, boolean expiryFields, int stamp) {
        write(address, type, encoding, database, keyLength, valueLength, capacity, expiryFields, stamp, false);
    }

    /** As the shorter {@code write}, with or without an extension, which is zero at first. */
    public static void write(long address, ItemType type, int encoding, int database, int keyLength, int valueLength,
            int capacity, boolean expiryFields, int stamp, boolean extension) {
        assert keyLength >= 0 && valueLength >= 0 && valueLength <= capacity : keyLength + " " + valueLength + " "
                + capacity;
        Memory.putLong(address,
                header(type.code(), encoding, database, keyLength, capacity, expiryFields, stamp, extension));
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
            next += LONG_BYTES;
        }
        if (extension) {
            Memory.putLong(next, 0);
            next += EXTENSION_BYTES;
        }
        if (valueLength != capacity) {
            valueLength(address, valueLength);
        }
    }

    private static long header(int type, int encoding, int database, int keyLength, int capacity, boolean expiryFields,
            int stamp, boolean extension) {
        assert encoding >= 0 && encoding <= MAX_ENCODING : encoding;
        assert database >= 0 && database <= MAX_DATABASE : database;
        boolean longKey = keyLength > MAX_SHORT_KEY;
        boolean longCapacity = capacity > MAX_SHORT_CAPACITY;
        return (long) type << TYPE_SHIFT
                | (long) (encoding & ENCODING_MASK) << ENCODING_SHIFT
                | (expiryFields ? 1L << EXPIRY_SHIFT : 0)
                | (longKey ? 1L << LONG_KEY_SHIFT : 0)
                | (longCapacity ? 1L << LONG_CAPACITY_SHIFT : 0)
                | (extension ? 1L << EXTENSION_SHIFT : 0)
                | (long) (database & DATABASE_MASK) << DATABASE_SHIFT
                | (long) (stamp >>> FOLLOWED_STAMP_SHIFT & 1) << FOLLOWED_SHIFT
                | (long) (stamp >>> ACCESS_BITS & PENALTY_MASK) << PENALTY_SHIFT
                | (long) (longKey ? KEY_LENGTH_MASK : keyLength) << KEY_LENGTH_SHIFT
                | (long) (longCapacity ? CAPACITY_MASK : capacity) << CAPACITY_SHIFT
                | (long) (stamp & ACCESS_MASK) << ACCESS_SHIFT;
    }

    /**
     * The header word. Who asks for several things that stand in it reads it once, and hands it to the methods that take one: each read is hundreds of nodes
     * to C2, which inlines nothing more into a method of 18,000 (decision 34).
     */
    public static long header(long address) {
        return Memory.getLong(address);
    }

    /** SAFETY: made of the item's header as it is now. */
    public static void header(long address, long header) {
        Memory.putLong(address, header);
    }

    /** The type's code, {@link ItemType#DEAD} for a dead item. */
    public static int type(long address) {
        return typeOf(header(address));
    }

    /**
     * Whether the item is the root item of a large collection: of any type but a string, and of {@link Item#TREE}'s encoding.
     */
    public static boolean isTree(long address) {
        return isTreeOf(header(address));
    }

    /** The same of an item with this header. */
    public static boolean isTreeOf(long header) {
        return encodingOf(header) == Item.TREE && typeOf(header) > STRING;
    }

    public static boolean isDead(long address) {
        return type(address) == ItemType.DEAD;
    }

    /** Makes the item one that a walk skips; its size stays. */
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
     * What is noted of an item beside what it is, and goes with it where it goes: its access bits and its penalty class; its key is not followed.
     *
     * @param access       0 to {@link #MAX_ACCESS}
     * @param penaltyClass 0 to {@link #MAX_PENALTY_CLASS}
     */
    public static int stamp(int access, int penaltyClass) {
        assert access >= 0 && access <= MAX_ACCESS : access;
        assert penaltyClass >= 0 && penaltyClass <= MAX_PENALTY_CLASS : penaltyClass;
        return penaltyClass << ACCESS_BITS | access;
    }

    /** The {@linkplain #stamp(int, int) stamp} of an item, for another that takes its place. */
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

    /** SAFETY: of an item that was {@linkplain Segments#born born} its segments count the class: {@link Segments#penaltyClass}. */
    public static void penaltyClass(long address, int penaltyClass) {
        set(address, PENALTY_SHIFT, PENALTY_MASK, penaltyClass);
    }

    /** 24 bits that belong to the eviction policy: a clock or a frequency. */
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

    /** Whether the next access to the item's key may be waited for: {@link io.varve.memory.locality.AccessProbe} says by whom. */
    public static boolean isFollowed(long address) {
        return isFollowedOf(header(address));
    }

    /** The same of an item with this header. */
    public static boolean isFollowedOf(long header) {
        return bit(header, FOLLOWED_SHIFT) != 0;
    }

    public static void followed(long address, boolean followed) {
        header(address, withFollowed(header(address), followed));
    }

    /** This header with that bit. */
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

    public static boolean hasExtension(long address) {
        return get(address, EXTENSION_SHIFT, 1) != 0;
    }

    /** 8 bytes that belong to the eviction policy. Only if {@link #hasExtension}. */
    public static long extension(long address) {
        return Memory.getLong(extensionAddress(address));
    }

    public static void extension(long address, long extension) {
        Memory.putLong(extensionAddress(address), extension);
    }

    private static long extensionAddress(long address) {
        assert hasExtension(address);
        return keyAddress(address) - EXTENSION_BYTES;
    }

    /** Whether there is room for an expiry time, used or not. */
    public static boolean hasExpiryFields(long address) {
        return hasExpiryFieldsOf(header(address));
    }

    /** The same of an item with this header. */
    public static boolean hasExpiryFieldsOf(long header) {
        return bit(header, EXPIRY_SHIFT) != 0;
    }

    /** Milliseconds since the epoch, or {@link Item#NEVER}. */
    public static long expireAtMillis(long address) {
        return expireAtMillisOf(address, header(address));
    }

    /** @param header the item's */
    public static long expireAtMillisOf(long address, long header) {
        if (!hasExpiryFieldsOf(header)) {
            return Item.NEVER;
        }
        // The entry's first bytes come with it.
        long field = Memory.getLong(address + EXPIRE_AT_OFFSET) & NEVER_FIELD;
        return field == NEVER_FIELD ? Item.NEVER : field;
    }

    /**
     * Only if {@link #hasExpiryFields}.
     *
     * @param expireAtMillis 0 to {@link #MAX_EXPIRE_AT_MILLIS}, or {@link Item#NEVER}
     */
    public static void expireAtMillis(long address, long expireAtMillis) {
        assert hasExpiryFields(address);
        assert expireAtMillis >= Item.NEVER && expireAtMillis <= MAX_EXPIRE_AT_MILLIS : expireAtMillis;
        // NEVER is -1, whose low 48 bits are NEVER_FIELD.
        Memory.putUnsigned48(address + EXPIRE_AT_OFFSET, expireAtMillis);
    }

    /** The entry of the time buckets that stands for this item. Only if {@link #hasExpiryFields}. */
    public static int expiryEntry(long address) {
        assert hasExpiryFields(address);
        return Memory.getInt(address + ENTRY_OFFSET);
    }

    public static void expiryEntry(long address, int entry) {
        assert hasExpiryFields(address);
        Memory.putInt(address + ENTRY_OFFSET, entry);
    }

    /**
     * Gives an item that has none expiry fields where it lies: everything behind its header moves up by
     * {@link #EXPIRY_BYTES}. SAFETY: those bytes behind its end are the item's already ({@link Segments#extendTail}).
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

    /** Bytes. */
    public static int keyLength(long address) {
        return keyLengthOf(address, header(address));
    }

    /** @param header the item's */
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

    /** @param header the item's */
    public static long keyAddressOf(long address, long header) {
        return address + headerSizeOf(header);
    }

    /** Bytes the value may grow to in place. */
    public static int capacity(long address) {
        return capacityOf(address, header(address));
    }

    /** @param header the item's */
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
     * Another capacity for an item of a value without slack, where the header keeps its size: both are short, or both are not.
     * SAFETY: the bytes up to the new end are the item's.
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

    /** Bytes. */
    public static int valueLength(long address) {
        return valueLengthOf(address, header(address));
    }

    /** @param header the item's */
    public static int valueLengthOf(long address, long header) {
        int capacity = capacityOf(address, header);
        return bit(header, SLACK_SHIFT) == 0 ? capacity : capacity - slack(valueAddressOf(address, header) + capacity);
    }

    private static int slack(long end) {
        int slack = Memory.getByte(end - 1) & 0xFF;
        return slack < SLACK_ESCAPE ? slack : Memory.getInt(end - SLACK_ESCAPE_BYTES);
    }

    /**
     * Changes the length; the bytes behind the new end are no longer the value's, and are written to.
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
     * Makes the item another type's, of another encoding and length, with one write to the header; its bytes are the caller's to change.
     *
     * @param header    the item's, with access bits as they are to be
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

    /** @param header the item's */
    public static long valueAddressOf(long address, long header) {
        return keyAddressOf(address, header) + keyLengthOf(address, header);
    }

    /** Bytes of the item, header, key and capacity. */
    public static int size(long address) {
        long header = header(address);
        return headerSizeOf(header) + keyLengthOf(address, header) + capacityOf(address, header);
    }

    /**
     * How long an item may be, as far as its header's own fields tell (those of long keys and large capacities are not
     * followed). A hint, read without the lock from whatever is there now.
     */
    public static int peekSize(long address) {
        long header = Memory.peekLong(address);
        return headerSizeOf(header) + ((int) (header >>> KEY_LENGTH_SHIFT) & KEY_LENGTH_MASK)
                + ((int) (header >>> CAPACITY_SHIFT) & CAPACITY_MASK);
    }

    /** Without a branch: what precedes the key is summed up from the bits that say what is there. */
    private static int headerSizeOf(long header) {
        return HEADER_BYTES + bit(header, EXPIRY_SHIFT) * EXPIRY_BYTES
                + (bit(header, LONG_KEY_SHIFT) + bit(header, LONG_CAPACITY_SHIFT)) * LONG_BYTES
                + bit(header, EXTENSION_SHIFT) * EXTENSION_BYTES;
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
