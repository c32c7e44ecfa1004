/**
 * The form in which DUMP and RESTORE carry a value: Redis's own, as in its files.
 *
 * <p>Lives here: reading and writing those bytes, their checksum, the packed forms within them. Must not live here: keys, items and
 * what becomes of the elements (room {@code command}); where memory comes from.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.rdb;
