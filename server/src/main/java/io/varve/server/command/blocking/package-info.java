/** Commands that wait: for an element of a key, or for an answer of the flash tier. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.blocking;
