/** What tests of the memory tier share: a cache on a clock of its own, chosen keys, and collections. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.testing;
