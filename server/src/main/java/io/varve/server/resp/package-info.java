/**
 * The Redis protocol: it decodes requests and encodes replies, in RESP2, RESP3 and inline form.
 *
 * <p>Lives here: the decoder, the reply writer, the parsing and formatting of numbers. Must not live here: channels, or
 * the meaning of a command.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.resp;
