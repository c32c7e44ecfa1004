/**
 * Access to native memory; no other package accesses it directly.
 *
 * <p>This package holds all code that allocates, maps, frees, reads, writes, copies or compares native memory, and the
 * budget for everything that grows with data. The meaning of the bytes must not live here.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.offheap;
