/** Test support of the memory tier: a cache on a simulated clock, chosen keys, and collections. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.testing;
