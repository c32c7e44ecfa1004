/** What the launcher starts that is more than one process. */
@NullMarked
package io.varve.experiments.launcher;

import org.jspecify.annotations.NullMarked;
