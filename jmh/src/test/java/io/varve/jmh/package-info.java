/**
 * The proof that no benchmark rots.
 *
 * <p>Must not live here: anything that measures.
 */
@org.jspecify.annotations.NullMarked
package io.varve.jmh;
