/** Tests of the release archive, as someone without the repository has it. */
@NullMarked
package io.varve.distribution;

import org.jspecify.annotations.NullMarked;
