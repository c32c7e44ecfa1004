/** A real Redis that tests ask what a script returns. */
@NullMarked
package io.varve.lua.oracle;

import org.jspecify.annotations.NullMarked;
