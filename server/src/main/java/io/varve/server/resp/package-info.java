/**
 * The Redis protocol: bytes to requests, replies to bytes, in RESP2, RESP3 and inline form.
 *
 * <p>Lives here: the decoder, the reply writer, how numbers are written and read. Must not live here: channels, or what
 * a command means.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.resp;
