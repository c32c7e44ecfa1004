/** The most read keys of the recent past, from sampled reads. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.hotkeys;
