/**
 * The serialization of values for DUMP and RESTORE: Redis's own, as in RDB files.
 *
 * <p>Lives here: the reader and writer of those bytes, their checksum, the packed forms within them. Must not live
 * here: keys, items and the use of the elements (package {@code command}); allocation of memory.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.rdb;
