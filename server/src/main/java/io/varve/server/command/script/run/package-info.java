/**
 * The run of a script in an event loop: its interpreters, the library {@code redis}, and the conversion of replies.
 *
 * <p>This package holds the execution of scripts. It must not hold the commands that start them (package
 * {@code script}) or the checks of the commands that they call (package {@code dispatch}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.script.run;
