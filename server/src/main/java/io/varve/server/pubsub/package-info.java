/**
 * Publish and subscribe: who listens to which names, and the messages on their way to them.
 *
 * <p>Lives here: the registry of names, what one client listens to, and its inbox. Must not live here: how a command is
 * asked for (room {@code command}), or the channel into which an inbox is emptied (room {@code net}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.pubsub;
