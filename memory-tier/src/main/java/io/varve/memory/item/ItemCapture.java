package io.varve.memory.item;

/**
 * Receives the items of a point-in-time scan. Called under the lock of the item's shard, by the thread that scans or by
 * one that is about to change an item; calls for two shards may overlap.
 *
 * <p>It may look up the given key through a session, with the time of the scan's start as the session's time, so that
 * nothing expires. It must change nothing, must not throw, and must not keep the addresses.
 */
public interface ItemCapture {
    /**
     * The scan begins. Called once, under the locks of all shards, before any item is captured.
     *
     * @param startMillis the moment of the scan, ms since the epoch: the time for lookups
     */
    void begins(long startMillis);

    /**
     * @param database the logical database at the start of the scan
     * @param key the item's key, bound to the database in which it is now
     */
    void capture(int database, Key key, Item item);

    /**
     * Captures an item of the secondary tier. Called by any thread, perhaps under the lock of the item's shard.
     *
     * @param database the logical database at the start of the scan
     */
    void capture(int database, StoredItem item);

    /**
     * Items are missing, because a visit failed. Called under the shard's lock, by the thread that visited; a command
     * that was about to change an item goes on.
     */
    void failed(Throwable reason);
}
