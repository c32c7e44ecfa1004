/** Tests of the test support. */
@org.jspecify.annotations.NullMarked
package io.varve.testing;
