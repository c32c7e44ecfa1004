package io.varve.server.admin;

/**
 * Sums about client-side caching. Immutable.
 *
 * @param clients clients that are sent invalidations
 * @param keys keys that at least one client may have cached
 * @param items pairs of a key and a client that may have cached it
 * @param prefixes distinct key prefixes that clients broadcast on
 */
public record TrackingTotals(long clients, long keys, long items, long prefixes) {}
