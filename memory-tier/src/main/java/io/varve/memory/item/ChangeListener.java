package io.varve.memory.item;

/**
 * Told of every change of the key space, in the order of its sequence numbers within a shard, under the shard's lock.
 *
 * <p>Must return quickly, must not call the cache, and must not keep the addresses.
 */
@FunctionalInterface
public interface ChangeListener {
    /**
     * @param sequence   grows by one with each change of the shard
     * @param database   the logical database, or -1 for one that is being reclaimed after a flush
     * @param keyAddress where the key's bytes are during the call
     */
    void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength);

    /**
     * A key has come that was not there: told before what is written under it is told. One that comes back from the tier below was there.
     *
     * @param keyAddress where the key's bytes are during the call
     */
    default void created(int database, long keyAddress, int keyLength) {}

    /**
     * A key that was to be read is not there. Told under its shard's lock, though nothing has changed.
     *
     * @param keyAddress where the key's bytes are during the call
     */
    default void missed(int database, long keyAddress, int keyLength) {}

    /** All keys of a logical database have gone. Told under the locks of all shards, once for all keys. */
    default void flushed(int database) {}

    /**
     * Two logical databases have exchanged their keys. Told under the locks of all shards.
     *
     * @param presence tells, during the call, what is in memory now
     */
    default void swapped(int first, int second, Presence presence) {}

    /** Whether a key is in memory and has not expired. */
    @FunctionalInterface
    interface Presence {
        boolean isThere(int database, byte[] key);
    }
}
