/**
 * The Vector API implementation of {@link io.varve.memory.index.TagScanner}, and the choice between it and the scalar
 * twin.
 *
 * <p>No other package imports {@code jdk.incubator.vector}.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.index.vector;
