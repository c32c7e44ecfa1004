package io.varve.server.command.cluster;

import io.varve.cluster.map.HashSlot;
import io.varve.server.clustering.ClusterListener;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.command.ServerState;
import io.varve.server.keys.HeapKey;

/**
 * What follows a change of the slot map: clients that wait for keys of other members are sent there, and subscriptions
 * to their shard channels end. Immutable; any thread calls it.
 */
public final class MapChanges implements ClusterListener {
    private final ServerState server;
    private final ClusterState cluster;

    public MapChanges(ServerState server, ClusterState cluster) {
        this.server = server;
        this.cluster = cluster;
    }

    @Override
    public void changed(ClusterView before, ClusterView now) {
        rerunWaiting(now);
        server.notifications().channels().endShardChannels(channel -> {
            int slot = HashSlot.of(channel.bytes());
            return before.holds(slot) && !now.holds(slot);
        });
    }

    private void rerunWaiting(ClusterView now) {
        server.blockedKeys().rerun(key -> isElsewhere(now, key));
    }

    /** Whether a client must not wait here for a key, as in Redis: its command then runs again, and is redirected. */
    private static boolean isElsewhere(ClusterView now, HeapKey key) {
        int slot = HashSlot.of(key.bytes());
        return !now.isHealthy() || !now.isMe(now.owner(slot)) && !now.importing().containsKey(slot);
    }

    /** Locks each shard once: commands check the view under these locks. */
    @Override
    public void awaitOlderCommands() {
        server.awaitOlderCommands();
        // Clients that began to wait meanwhile.
        rerunWaiting(cluster.view());
    }
}
