/**
 * What happens to keys, told as messages: keyspace notifications.
 *
 * <p>Lives here: what can happen to a key, which of it is told, and how it becomes messages. Must not live here: what a command does
 * (room {@code command}, which tells), or how messages reach those who listen (room {@code pubsub}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.events;
