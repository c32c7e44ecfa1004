package io.varve.memory.collection;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.varve.memory.collection.tree.NodeLayout;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node space in which each node has memory of its own, exactly as long as its capacity. Confined to one thread. An
 * access beyond a node's end, or to one that has moved or was freed, is therefore an error. It refuses allocations on
 * demand.
 */
final class HeapNodeSpace implements NodeSpace {
    private static final int NOTHING_RESERVED = -1;

    /** The memory of one node. */
    private static final class Block {
        private final Arena arena = Arena.ofConfined();
        private final long address;
        private final int capacity;

        Block(int capacity) {
            this.capacity = capacity;
            address = arena.allocate(capacity).address();
            LiveRanges.add(address, capacity);
        }

        void free() {
            LiveRanges.remove(address);
            arena.close();
        }
    }

    private final int targetBytes;
    private final long hashes;
    private final Map<Integer, Block> blocks = new HashMap<>();
    /** The content, at begin, of each node touched since; null for a node that did not exist. */
    private final Map<Integer, @Nullable Block> before = new HashMap<>();
    private final Set<Integer> dropped = new HashSet<>();
    private boolean begun;
    private int next = 1;
    private int untilRefusal = Integer.MAX_VALUE;
    private int granted = NOTHING_RESERVED;
    private long refusals;

    /**
     * @param hashes how many different hashes there are
     */
    HeapNodeSpace(int targetBytes, long hashes) {
        this.targetBytes = targetBytes;
        this.hashes = hashes;
    }

    /** Refuses allocations after this many more, until it is reset. */
    void refuseAfter(int allocations) {
        untilRefusal = allocations;
    }

    void refuseNothing() {
        untilRefusal = Integer.MAX_VALUE;
    }

    boolean isBegun() {
        return begun;
    }

    long refusals() {
        return refusals;
    }

    Set<Integer> nodes() {
        return blocks.keySet();
    }

    private Block take(int capacity) {
        if (granted != NOTHING_RESERVED && (granted == 0 || capacity > targetBytes)) {
            throw CacheFullException.of(capacity);
        }
        granted -= granted == NOTHING_RESERVED ? 0 : 1;
        if (untilRefusal <= 0) {
            refusals++;
            throw CacheFullException.of(capacity);
        }
        if (untilRefusal != Integer.MAX_VALUE) {
            untilRefusal--;
        }
        return new Block(capacity);
    }

    /** Exactly so many are granted, none larger than a node should be, and not one more. */
    @Override
    public boolean reserve(int nodes) {
        granted = nodes;
        return true;
    }

    @Override
    public void endReserve() {
        assertThat(granted).isNotNegative();
        granted = NOTHING_RESERVED;
    }

    private Block block(int node) {
        Block block = blocks.get(node);
        if (block == null || dropped.contains(node)) {
            throw new AssertionError("no node " + node);
        }
        return block;
    }

    @Override
    public int allocate(int tree, int capacity) {
        Block block = take(capacity);
        int node = next++;
        blocks.put(node, block);
        if (begun) {
            before.put(node, null);
        }
        NodeLayout.tree(block.address, tree);
        return node;
    }

    @Override
    public long address(int node) {
        return block(node).address;
    }

    @Override
    public long forWriting(int node) {
        if (begun && !before.containsKey(node)) {
            copy(node, capacity(node));
        }
        return address(node);
    }

    private void copy(int node, int capacity) {
        Block old = block(node);
        Block made = take(capacity);
        Memory.copy(old.address, made.address, Math.min(capacity, old.capacity));
        blocks.put(node, made);
        if (begun && !before.containsKey(node)) {
            before.put(node, old);
        } else {
            old.free();
        }
    }

    @Override
    public int capacity(int node) {
        return block(node).capacity;
    }

    @Override
    public void resize(int node, int capacity) {
        copy(node, capacity);
    }

    @Override
    public void free(int node) {
        Block block = block(node);
        if (begun) {
            if (!before.containsKey(node)) {
                before.put(node, block);
            }
            dropped.add(node);
            return;
        }
        block.free();
        blocks.remove(node);
    }

    @Override
    public long itemBytes(int capacity) {
        return 20L + capacity;
    }

    @Override
    public int targetBytes() {
        return targetBytes;
    }

    @Override
    public long hash(long address, int length) {
        long hash = 7;
        for (int i = 0; i < length; i++) {
            hash = (hash ^ Memory.getByte(address + i)) * 0x9E37_79B9_7F4A_7C15L;
        }
        return (hash >>> 32) % hashes;
    }

    @Override
    public void begin() {
        begun = true;
    }

    @Override
    public void commit() {
        begun = false;
        before.forEach((node, old) -> {
            Block now = blocks.get(node);
            if (old != null && !old.equals(now)) {
                old.free();
            }
        });
        for (int node : dropped) {
            Objects.requireNonNull(blocks.remove(node)).free();
        }
        before.clear();
        dropped.clear();
    }

    @Override
    public long rollback() {
        begun = false;
        before.forEach((node, old) -> {
            Block now = Objects.requireNonNull(blocks.get(node));
            if (!now.equals(old)) {
                now.free();
            }
            if (old == null) {
                blocks.remove(node);
            } else {
                blocks.put(node, old);
            }
        });
        before.clear();
        dropped.clear();
        return 100;
    }

    void close() {
        blocks.values().forEach(Block::free);
        blocks.clear();
    }
}
