/**
 * Strings: GET, SET and their relatives, APPEND, INCR, LCS.
 *
 * <p>This package holds commands on one value of bytes. It must not hold commands on single bits (package
 * {@code bitmap}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.string;
