/**
 * Channels, event loops and back-pressure: how bytes come in and go out.
 *
 * <p>Lives here: everything that touches a channel. Must not live here: what a request means.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.net;
