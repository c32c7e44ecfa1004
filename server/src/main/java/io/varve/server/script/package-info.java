/**
 * Lua scripts as the whole server knows them: their headers, their cache, and the runs in progress.
 *
 * <p>This package holds state that all event loops share. It must not hold the execution of a script (package
 * {@code command.script}) or the interpreter (module {@code lua}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.script;
