/**
 * The one door to raw memory.
 *
 * <p>Lives here: whatever allocates, maps, gives back, reads, writes, copies or compares native memory, and the budget
 * that everything which grows with data is charged to. Must not live here: what the bytes mean.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.offheap;
