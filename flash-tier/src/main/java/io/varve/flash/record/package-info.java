/**
 * The layout of keys and values on flash: version, marks, checksum.
 *
 * <p>Lives here: the position of each byte. Must not live here: the transfer of bytes to flash.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.record;
