package io.varve.memory.item;

/**
 * A flyweight for one item in place: type, key, value, expiry. Confined to one thread, and valid only while that thread
 * holds the lock of the item's shard and until the next call that writes to its key.
 */
public final class Item {
    /** The encoding that marks, for any type but a string, the value as the header of a tree. */
    public static final int TREE = 3;
    /** The encoding of a packed hash whose fields may have times. */
    public static final int TIMED = 2;
    /** The expiry time of an item that never expires. */
    public static final long NEVER = -1;
    /** The latest expiry time, ms since the epoch, in the year 10889: 48 bits, of which all ones mean never. */
    public static final long LATEST_EXPIRY_MILLIS = (1L << 48) - 2;

    private long location;
    private long address;
    private long header;
    private ItemType type = ItemType.STRING;
    private int encoding;
    private long keyAddress;
    private int keyLength;
    private long valueAddress;
    private int valueLength;
    private int capacity;
    private long expireAtMillis = NEVER;

    /** Points this flyweight at an item; called by the shard, which reads the header. */
    public void bind(long location, long address, long header, ItemType type, int encoding, long keyAddress,
            int keyLength, long valueAddress, int valueLength, int capacity, long expireAtMillis) {
        this.location = location;
        this.address = address;
        this.header = header;
        this.type = type;
        this.encoding = encoding;
        this.keyAddress = keyAddress;
        this.keyLength = keyLength;
        this.valueAddress = valueAddress;
        this.valueLength = valueLength;
        this.capacity = capacity;
        this.expireAtMillis = expireAtMillis;
    }

    /** Sets the time from which on the item does not exist, for the tier that stores a copy. Called by the shard. */
    public void endsAt(long endMillis) {
        expireAtMillis = endMillis;
    }

    /** Packed segment and offset, 48 bits; opaque outside the package segment. */
    public long location() {
        return location;
    }

    /** The address of the item's header. */
    public long address() {
        return address;
    }

    /** A copy of the item's header; the present header is at {@link #address}. */
    public long header() {
        return header;
    }

    public ItemType type() {
        return type;
    }

    /** 2 bits whose meaning belongs to the type, except for {@link #TREE}. */
    public int encoding() {
        return encoding;
    }

    /** Whether this is a large collection, whose value only the memory tier interprets. */
    public boolean isTree() {
        return encoding == TREE && type != ItemType.STRING;
    }

    public long keyAddress() {
        return keyAddress;
    }

    public int keyLength() {
        return keyLength;
    }

    public long valueAddress() {
        return valueAddress;
    }

    /** The length of the value in bytes. */
    public int valueLength() {
        return valueLength;
    }

    /** Bytes that the value may grow to in place. */
    public int capacity() {
        return capacity;
    }

    /** Whether the key has an expiry time; its fields may have others. */
    public boolean expires() {
        return expireAtMillis != NEVER;
    }

    /** Milliseconds since the epoch, 48 bits, or {@link #NEVER}. */
    public long expireAtMillis() {
        return expireAtMillis;
    }
}
