/** What the tests of this module share. */
@NullMarked
package io.varve.cluster.testing;

import org.jspecify.annotations.NullMarked;
