/**
 * Strings: GET, SET and their relatives, APPEND, INCR, LCS.
 *
 * <p>Lives here: what is done to one value of bytes. Must not live here: single bits (room {@code bitmap}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.string;
