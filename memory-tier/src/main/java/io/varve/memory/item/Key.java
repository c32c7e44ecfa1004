package io.varve.memory.item;

/**
 * A key in use by a command: the address of its bytes, its hash, its shard and its database. Confined to the thread
 * that bound it; reused for successive commands, so binding allocates nothing.
 *
 * <p>The bytes are native memory that stays valid and unchanged until the command has run.
 */
public final class Key {
    private long address;
    private int length;
    private long hash;
    private int shard;
    private int database;
    private int slot;

    /** Called by the cache session, which alone knows hash and shard. */
    public void bind(long address, int length, long hash, int shard, int database) {
        this.address = address;
        this.length = length;
        this.hash = hash;
        this.shard = shard;
        this.database = database;
    }

    public long address() {
        return address;
    }

    /** The length of the key in bytes. */
    public int length() {
        return length;
    }

    /** The index hash, seeded, 64 bits. */
    public long hash() {
        return hash;
    }

    public int shard() {
        return shard;
    }

    /** Called by the cache session, if keys have slots, and by what copies a key. */
    public void slot(int value) {
        slot = value;
    }

    /** The slot; 0 if keys have none ({@link KeySlots}). */
    public int slot() {
        return slot;
    }

    /** The logical database, as SELECT names it. */
    public int database() {
        return database;
    }
}
