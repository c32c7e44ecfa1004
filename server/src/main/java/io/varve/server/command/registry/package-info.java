/**
 * All families in one table.
 *
 * <p>Lives here: the list of families, the one room that knows them all. Must not live here: any command.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.registry;
