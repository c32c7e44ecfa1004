/**
 * The Vector API's answer to {@link io.varve.memory.index.TagScanner}, and the chooser between it and the scalar twin.
 *
 * <p>The only room that imports {@code jdk.incubator.vector}.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.index.vector;
