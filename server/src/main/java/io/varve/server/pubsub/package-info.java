/**
 * Publish and subscribe: the subscriptions of all clients, and the messages in transit to them.
 *
 * <p>Lives here: the registry of names, the subscriptions of one client, and its inbox. Must not live here: the
 * commands (package {@code command}), or the channel to which an inbox is written (package {@code net}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.pubsub;
