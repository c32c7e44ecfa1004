/**
 * DUMP and RESTORE: values of all types as bytes.
 *
 * <p>Lives here: what is written of a value and what becomes of what is read. Must not live here: the format ({@code
 * io.varve.server.rdb}), and how values are laid out.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.dump;
