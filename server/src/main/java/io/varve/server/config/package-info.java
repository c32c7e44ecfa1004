/**
 * Settings: the definition of each one, and the readers for redis.conf files, options and CONFIG SET.
 *
 * <p>Lives here: names, types, defaults, ranges, parsing. Must not live here: the effect of a setting.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.config;
