/**
 * EVAL, SCRIPT, FUNCTION and FCALL.
 *
 * <p>This package holds the commands. It must not hold the run of a script (package {@code run}) or what event loops
 * share (package {@code script} of the server).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.script;
