/** The command lines of the verbs {@code controller} and {@code cluster}. */
@NullMarked
package io.varve.cluster.cli;

import org.jspecify.annotations.NullMarked;
