/** Texts of numbers as C's {@code printf} writes and {@code strtod} reads them. */
@NullMarked
package io.varve.lua.text;

import org.jspecify.annotations.NullMarked;
