/**
 * Bits of a string: SETBIT, BITCOUNT, BITPOS, BITOP, BITFIELD.
 *
 * <p>Lives here: what addresses a string by bits. Must not live here: how long a string may become (room {@code string}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.bitmap;
