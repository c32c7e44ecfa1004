package io.varve.proxy.map;

import org.jspecify.annotations.Nullable;

/**
 * Where the proxy learns which member serves which slot. Thread-safe.
 *
 * <p>Implementations ask the members ({@link MembersMapSource}) or the controllers of a Varve cluster
 * ({@link ControllersMapSource}), or read the settings ({@link StaticMapSource}).
 */
public interface MapSource extends AutoCloseable {
    /** Begins to report maps. Called once. */
    void start(Listener listener);

    /**
     * Requests a newer map soon, because a member has redirected a request or does not answer. Returns at once; the
     * source limits how often it acts.
     *
     * @param from the member that is likely to know the newer map; null: any
     */
    void refresh(@Nullable Endpoint from);

    @Override
    void close();

    /** Receives maps. Thread-safe. */
    @FunctionalInterface
    interface Listener {
        void changed(SlotTable table);
    }
}
