package io.varve.server.clustering;

import io.varve.server.config.ServerConfig;

/**
 * The settings that decide what a member serves while the cluster is down. Immutable.
 *
 * @param requiresFullCoverage whether the cluster is down while a slot has no owner
 * @param readsWhenDown whether reads are served meanwhile
 * @param shardChannelsWhenDown whether shard channels are served meanwhile
 * @param announcedHost what other members and clients connect to; empty: the address that the server listens on
 * @param announcedPort 0: the port that the server listens on
 */
public record ClusterOptions(boolean requiresFullCoverage, boolean readsWhenDown, boolean shardChannelsWhenDown,
        String announcedHost, int announcedPort) {
    /** The settings in a configuration. */
    public static ClusterOptions of(ServerConfig config) {
        return new ClusterOptions(config.bool("cluster-require-full-coverage"),
                config.bool("cluster-allow-reads-when-down"), config.bool("cluster-allow-pubsubshard-when-down"),
                config.text("cluster-announce-ip"), config.intNumber("cluster-announce-port"));
    }
}
