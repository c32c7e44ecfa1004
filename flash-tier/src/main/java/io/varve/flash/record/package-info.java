/**
 * The bytes of a key and of a value on flash: version, marks, checksum.
 *
 * <p>Lives here: where each byte is. Must not live here: how bytes get to flash.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.record;
