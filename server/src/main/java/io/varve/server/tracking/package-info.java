/**
 * Client-side caching: the keys that clients may have cached, and the invalidations when these change.
 *
 * <p>Lives here: the table of keys, the options of a client, and its messages. Must not live here: the CLIENT TRACKING
 * command and when a command's keys are remembered (package {@code command}), or the delivery of messages (package
 * {@code pubsub}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.tracking;
