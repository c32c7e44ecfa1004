package io.varve.cluster.placement;

import org.jspecify.annotations.Nullable;

/**
 * A slot that changes its owner. Immutable.
 *
 * @param slot the hash slot
 * @param from the primary that has it, or receives it now; null if no one has it
 * @param to the primary that gets it
 */
public record SlotMove(int slot, @Nullable String from, String to) {}
