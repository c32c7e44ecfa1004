/**
 * Settings: each one once, as data, and what reads them from redis.conf files, options and CONFIG SET.
 *
 * <p>Lives here: names, types, defaults, ranges, parsing. Must not live here: what a setting does.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.config;
