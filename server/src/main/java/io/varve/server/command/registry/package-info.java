/**
 * The table of all command families.
 *
 * <p>This package holds the list of families and is the only package that knows them all. It must not hold any command.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.registry;
