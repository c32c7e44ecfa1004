package io.varve.server.pubsub;

import io.varve.memory.item.ValueRun;
import org.jspecify.annotations.Nullable;

/**
 * What is to be published, where it lies. Immutable, and valid while its publisher's command runs.
 *
 * @param address of its first byte
 * @param length  bytes
 * @param run     the memory in which a large one arrived, held by the command: messages share it; null for one that is copied
 */
public record Content(long address, int length, @Nullable ValueRun run) {}
