package io.varve.server.admin;

/**
 * Client-side caching in numbers. Immutable.
 *
 * @param clients  that are told of keys they may have cached
 * @param keys     that somebody may have cached
 * @param items    keys times who may have cached them
 * @param prefixes different prefixes of keys that somebody is told of
 */
public record TrackingTotals(long clients, long keys, long items, long prefixes) {}
