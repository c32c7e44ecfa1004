/** Tests of {@code io.varve.server.training}. */
@org.jspecify.annotations.NullMarked
package io.varve.server.training;
