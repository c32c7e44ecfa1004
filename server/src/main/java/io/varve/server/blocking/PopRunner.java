package io.varve.server.blocking;

import io.varve.memory.item.ItemType;
import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;

/** Runs the pops of blocked clients on the thread that has made their keys ready. Confined to that thread. */
public interface PopRunner {
    /** Result of a client's pop. */
    enum Result {
        /** The client has its reply or its error, and the key may hold more. */
        SERVED,
        /** The client has its reply, and the key is empty. */
        SERVED_LAST,
        /** The key holds nothing for this client, or it has disconnected: its event loop removes it. */
        SKIPPED,
        /** The pop cannot run here, and nothing has changed: the client has to run its command again. */
        RERUN,
        /** The key holds nothing for the client. */
        NOTHING
    }

    /**
     * Selects the key of the following pops. Its shard is locked.
     *
     * @return false if no pop can run here
     */
    boolean open(HeapKey key);

    /** The type of the selected key; null if it does not exist. */
    @Nullable
    ItemType type();

    /** Runs the client's pop on the selected key. If it is served, the client has its reply afterwards. */
    Result pop(BlockedClient blocked);
}
