package io.varve.memory.item;

/**
 * A listener for every change of the key space. Called under the shard's lock, in the order of the sequence numbers
 * within a shard.
 *
 * <p>It must return quickly, must not call the cache, and must not keep the addresses.
 */
@FunctionalInterface
public interface ChangeListener {
    /**
     * @param sequence increases by one with each change of the shard
     * @param database the logical database, or -1 for one that is being reclaimed after a flush
     * @param keyAddress the address of the key's bytes, valid during the call
     */
    void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength);

    /**
     * Reports a new key, before its value's change is reported. A key restored from the secondary tier is not new.
     *
     * @param keyAddress the address of the key's bytes, valid during the call
     */
    default void created(int database, long keyAddress, int keyLength) {}

    /** Whether {@link #missed} does anything; asked when it subscribes. */
    default boolean hearsMisses() {
        return false;
    }

    /**
     * Reports that the expiry cycle is about to remove fields of a hash, of which others are left. Called under the
     * lock of the key's shard. Some of the fields may be reported again.
     *
     * @param keyAddress the address of the key's bytes, valid during the call
     */
    default void fieldsExpire(int database, long keyAddress, int keyLength, Fields fields) {}

    /** The names of fields. Valid only during the call that passes it. */
    interface Fields {
        int count();

        void forEach(FieldVisitor visitor);
    }

    /** Receives the name of a field. */
    @FunctionalInterface
    interface FieldVisitor {
        void visit(long address, int length);
    }

    /**
     * Reports a read of a missing key, if {@link #hearsMisses}. Called under its shard's lock, although nothing has
     * changed.
     *
     * @param keyAddress the address of the key's bytes, valid during the call
     */
    default void missed(int database, long keyAddress, int keyLength) {}

    /**
     * Reports that all keys of a logical database were removed. Called under the locks of all shards, once for all
     * keys.
     */
    default void flushed(int database) {}

    /**
     * Reports that the secondary tier has lost all of its items of a logical database, and does not know which. Called
     * under the locks of all shards.
     */
    default void lost(int database) {
        flushed(database);
    }

    /**
     * Reports that two logical databases were exchanged. Called under the locks of all shards.
     *
     * @param presence answers, during the call, which keys are in memory now
     */
    default void swapped(int first, int second, Presence presence) {}

    /** Answers whether a key is in memory and has not expired. Valid only during the call. */
    @FunctionalInterface
    interface Presence {
        boolean exists(int database, byte[] key);
    }
}
