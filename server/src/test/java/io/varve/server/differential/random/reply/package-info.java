/**
 * Comparisons of replies that may differ in known ways, such as in the order of a set.
 *
 * <p>This package holds the comparisons. It must not hold the drawing of commands (package {@code random}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.differential.random.reply;
