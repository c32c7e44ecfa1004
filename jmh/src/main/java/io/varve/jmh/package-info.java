/**
 * The program behind {@code ./varve jmh}, and, among the tests, the proof that no benchmark rots.
 *
 * <p>Must not live here: anything that measures; it lives in the package of what it measures.
 */
@org.jspecify.annotations.NullMarked
package io.varve.jmh;
