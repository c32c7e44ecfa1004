/**
 * The caches of the comparison, Varve's own among them, each as fast as its own interface allows.
 *
 * <p>Must not live here: anything that measures.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.compared;
