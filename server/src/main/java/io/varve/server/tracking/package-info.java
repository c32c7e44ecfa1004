/**
 * Client-side caching: which keys clients may have cached, and how they are told that these have changed.
 *
 * <p>Lives here: the table of keys, a client's wishes, and what it is told. Must not live here: how CLIENT TRACKING is asked for and when a
 * command's keys are remembered (room {@code command}), or how mail reaches a client (room {@code pubsub}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.tracking;
