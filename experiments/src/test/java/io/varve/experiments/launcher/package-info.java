/** Tests of launcher verbs that start several processes. */
@NullMarked
package io.varve.experiments.launcher;

import org.jspecify.annotations.NullMarked;
