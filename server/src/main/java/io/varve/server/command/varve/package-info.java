/**
 * Commands that Redis has not: VARVE.MRC, VARVE.CLASS.
 *
 * <p>Lives here: what Varve alone can tell or be told, under names that begin with {@code VARVE.}. Must not live here: commands that Redis has, too, and
 * what is learnt ({@code io.varve.memory.locality}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.varve;
