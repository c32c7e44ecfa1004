package io.varve.memory.item;

/**
 * A look at one item where it lies: type, key, value, expiry. Confined to one thread, and valid only while that thread
 * holds the lock of the item's shard and until the next call that writes to its key.
 */
public final class Item {
    /** The encoding that says of any type but a string that the value is the header of a tree. */
    public static final int TREE = 3;
    /** The encoding that says of a packed hash that its fields may have times. */
    public static final int TIMED = 2;
    /** The expiry time of an item that never expires. */
    public static final long NEVER = -1;
    /** The latest expiry time there is, ms since the epoch, in the year 10889: it has 48 bits, of which all ones say never. */
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

    /** Called by the shard, which reads the header. */
    public void look(long location, long address, long header, ItemType type, int encoding, long keyAddress,
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

    /** Called by the shard, for whoever keeps the item elsewhere: from then on it is not there. */
    public void endsAt(long endMillis) {
        expireAtMillis = endMillis;
    }

    /** Packed segment and offset, 48 bits; opaque outside the segment room. */
    public long location() {
        return location;
    }

    /** Where the item's header is. */
    public long address() {
        return address;
    }

    /** The item's header as it was when this look was taken: who wants it as it is now reads it where it lies. */
    public long header() {
        return header;
    }

    public ItemType type() {
        return type;
    }

    /** 2 bits whose meaning belongs to the type, but for {@link #TREE}. */
    public int encoding() {
        return encoding;
    }

    /** Whether this is a large collection: its value then is nobody's business but the memory tier's. */
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

    /** Bytes. */
    public int valueLength() {
        return valueLength;
    }

    /** Bytes the value may grow to in place. */
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
