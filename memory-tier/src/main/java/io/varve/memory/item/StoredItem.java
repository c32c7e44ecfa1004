package io.varve.memory.item;

/**
 * An item of the secondary tier, as {@link io.varve.memory.CacheSession#restore} takes it. Immutable as long as no
 * caller writes into its arrays.
 */
public final class StoredItem {
    private final byte[] key;
    private final ItemType type;
    private final int encoding;
    private final byte[] value;
    private final int from;
    private final int valueLength;
    private final long expireAtMillis;
    private final int access;

    /**
     * @param value an array with the value's bytes, from {@code from} on
     * @param expireAtMillis ms since the epoch, or {@link Item#NEVER}
     * @param access its 24 access bits
     */
    public StoredItem(byte[] key, ItemType type, int encoding, byte[] value, int from, int valueLength,
            long expireAtMillis, int access) {
        this.key = key;
        this.type = type;
        this.encoding = encoding;
        this.value = value;
        this.from = from;
        this.valueLength = valueLength;
        this.expireAtMillis = expireAtMillis;
        this.access = access;
    }

    public byte[] key() {
        return key;
    }

    public ItemType type() {
        return type;
    }

    public int encoding() {
        return encoding;
    }

    /** The value's bytes, from {@link #from} on. */
    public byte[] value() {
        return value;
    }

    public int from() {
        return from;
    }

    public int valueLength() {
        return valueLength;
    }

    /** Milliseconds since the epoch, or {@link Item#NEVER}. */
    public long expireAtMillis() {
        return expireAtMillis;
    }

    /** Its 24 access bits. */
    public int access() {
        return access;
    }
}
