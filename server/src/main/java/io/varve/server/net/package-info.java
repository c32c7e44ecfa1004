/**
 * Channels, event loops and backpressure: how bytes are received and sent.
 *
 * <p>Lives here: everything that touches a channel. Must not live here: the meaning of a request.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.net;
