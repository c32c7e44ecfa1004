/**
 * Commands as data, the context of a running command, its client, and everything that all commands share.
 *
 * <p>This package holds what a command may need while it runs, and its metadata. Package {@code dispatch} runs
 * commands; one package per family implements them; package {@code registry} lists the families. This package must not
 * hold anything that only one family needs, or depend on these packages. It must not hold sockets and event loops
 * (package {@code net}) or protocol bytes (package {@code resp}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command;
