/**
 * Commands on the bits of a string: SETBIT, BITCOUNT, BITPOS, BITOP, BITFIELD.
 *
 * <p>This package holds the bit addressing of strings. It must not hold the maximum length of a string (package
 * {@code string}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.bitmap;
