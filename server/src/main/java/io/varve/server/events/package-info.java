/**
 * Keyspace notifications: the events of keys, published as messages.
 *
 * <p>Lives here: the kinds of events, their selection, and their conversion to messages. Must not live here: the effect
 * of a command (package {@code command}, which reports the events), or the delivery of messages to subscribers (package
 * {@code pubsub}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.events;
