package io.varve.memory.item;

/**
 * Assigns each key to a slot, a part of the key space that a cluster moves as a whole. Immutable; many threads call it.
 */
@FunctionalInterface
public interface KeySlots {
    /** @return the slot of the key in native memory, from 0 */
    int slot(long address, int length);
}
