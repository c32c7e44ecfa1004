/**
 * Commands that Redis does not have: VARVE.MRC, VARVE.CLASS, VARVE.PIN, VARVE.UNPIN,
 * VARVE.HOTKEYS, VARVE.REPLICATE, VARVE.COPIES.
 *
 * <p>This package holds commands that only Varve offers, with names that begin with {@code VARVE.}. It must not hold
 * commands that Redis has too, or the learned statistics ({@code io.varve.memory.locality}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.varve;
