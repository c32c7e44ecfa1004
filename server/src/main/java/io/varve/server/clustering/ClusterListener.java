package io.varve.server.clustering;

/** Is told of changes of the {@link ClusterView}. Any thread calls it, one at a time. */
public interface ClusterListener {
    /** The view has changed: commands see the new one from now on. */
    void changed(ClusterView before, ClusterView now);

    /**
     * Waits until all commands have ended that began under an older view. The calling thread holds no shard.
     */
    default void awaitOlderCommands() {}
}
