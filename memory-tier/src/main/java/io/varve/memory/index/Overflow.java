package io.varve.memory.index;

import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * The entries of one table that found room neither in their home bucket nor in its extension bucket. Guarded by the
 * shard's lock.
 *
 * <p>Nodes in one region, chain heads in another, as many heads as nodes. Each entry is in two chains: one by its whole
 * hash, mixed again, so that the entries of one home bucket spread and only equal hashes share a chain's length for
 * certain; and one by its home bucket, doubly linked, so that a scan, a rehash and a freed slot find the entries of a
 * home bucket without walking the others. It holds no memory until the first entry comes, and gives all
 * but the first few kilobytes back with the last.
 */
final class Overflow {
    /** No node. */
    static final int NONE = 0;
    private static final int FIRST_CAPACITY = (int) (Regions.MIN_BYTES / OverflowNodeLayout.NODE_BYTES);
    /** The most nodes that 32-bit links and power-of-two regions allow. */
    private static final int MAX_CAPACITY = 1 << 30;
    /** 2^64 divided by the golden ratio, odd: multiplying spreads any bits over the high ones. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private final long homeMask;
    private final Regions regions;
    private final MemoryBudget budget;
    private long nodes;
    private long heads;
    private int capacity;
    /** Nodes up to this number were used once. */
    private int top;
    private int free;
    private int count;

    Overflow(long homeMask, Regions regions, MemoryBudget budget) {
        this.homeMask = homeMask;
        this.regions = regions;
        this.budget = budget;
    }

    int count() {
        return count;
    }

    /** How many numbers, from 1, a sample must choose among. */
    int top() {
        return top;
    }

    long bytes() {
        return bytes(capacity);
    }

    long hash(int node) {
        return OverflowNodeLayout.hash(address(node));
    }

    long location(int node) {
        return OverflowNodeLayout.location(address(node));
    }

    void location(int node, long location) {
        OverflowNodeLayout.location(address(node), location);
    }

    boolean live(int node) {
        return OverflowNodeLayout.live(address(node));
    }

    /** The node of this key, or {@link #NONE}. */
    int find(long hash, long keyAddress, int keyLength, KeyVerifier verifier) {
        if (count == 0) {
            return NONE;
        }
        int node = OverflowNodeLayout.hashHead(headOfHash(hash));
        while (node != NONE) {
            long address = address(node);
            if (OverflowNodeLayout.hash(address) == hash
                    && verifier.matches(OverflowNodeLayout.location(address), keyAddress, keyLength)) {
                return node;
            }
            node = OverflowNodeLayout.hashNext(address);
        }
        return NONE;
    }

    /** The node of this hash and location, or {@link #NONE}. */
    int locate(long hash, long location) {
        if (count == 0) {
            return NONE;
        }
        int node = OverflowNodeLayout.hashHead(headOfHash(hash));
        while (node != NONE) {
            long address = address(node);
            if (OverflowNodeLayout.hash(address) == hash && OverflowNodeLayout.location(address) == location) {
                return node;
            }
            node = OverflowNodeLayout.hashNext(address);
        }
        return NONE;
    }

    /** The first node of a home bucket, or {@link #NONE}. */
    int firstOfHome(long home) {
        return count == 0 ? NONE : skipToHome(OverflowNodeLayout.homeHead(headOfHome(home)), home);
    }

    /** The node of the same home bucket after {@code node}, or {@link #NONE}. */
    int nextOfHome(int node, long home) {
        return skipToHome(OverflowNodeLayout.homeNext(address(node)), home);
    }

    /** Adds an entry; false, and nothing changed, if the memory for it is refused. */
    boolean add(long hash, long location) {
        if (free == NONE && top == capacity && !grow()) {
            return false;
        }
        int node = free;
        if (node == NONE) {
            node = ++top;
        } else {
            free = OverflowNodeLayout.hashNext(address(node));
        }
        long address = address(node);
        OverflowNodeLayout.hash(address, hash);
        OverflowNodeLayout.location(address, location);
        OverflowNodeLayout.live(address, true);
        link(node);
        count++;
        return true;
    }

    void remove(int node) {
        if (count == 1 && capacity > FIRST_CAPACITY) {
            release();
            return;
        }
        long address = address(node);
        unlinkFromHash(node, OverflowNodeLayout.hash(address));
        int previous = OverflowNodeLayout.homePrevious(address);
        int next = OverflowNodeLayout.homeNext(address);
        if (previous == NONE) {
            OverflowNodeLayout.homeHead(headOfHome(home(address)), next);
        } else {
            OverflowNodeLayout.homeNext(address(previous), next);
        }
        if (next != NONE) {
            OverflowNodeLayout.homePrevious(address(next), previous);
        }
        OverflowNodeLayout.live(address, false);
        OverflowNodeLayout.hashNext(address, free);
        free = node;
        count--;
    }

    /** Gives all memory back; the overflow is empty then, and usable. */
    void release() {
        if (capacity != 0) {
            freeRegions(nodes, heads, capacity);
        }
        nodes = 0;
        heads = 0;
        capacity = 0;
        top = 0;
        free = NONE;
        count = 0;
    }

    private int skipToHome(int from, long home) {
        int node = from;
        while (node != NONE && home(address(node)) != home) {
            node = OverflowNodeLayout.homeNext(address(node));
        }
        return node;
    }

    private void link(int node) {
        long address = address(node);
        long hashHead = headOfHash(OverflowNodeLayout.hash(address));
        OverflowNodeLayout.hashNext(address, OverflowNodeLayout.hashHead(hashHead));
        OverflowNodeLayout.hashHead(hashHead, node);
        long homeHead = headOfHome(home(address));
        int next = OverflowNodeLayout.homeHead(homeHead);
        OverflowNodeLayout.homeNext(address, next);
        OverflowNodeLayout.homePrevious(address, NONE);
        if (next != NONE) {
            OverflowNodeLayout.homePrevious(address(next), node);
        }
        OverflowNodeLayout.homeHead(homeHead, node);
    }

    private void unlinkFromHash(int node, long hash) {
        long head = headOfHash(hash);
        int next = OverflowNodeLayout.hashNext(address(node));
        int at = OverflowNodeLayout.hashHead(head);
        if (at == node) {
            OverflowNodeLayout.hashHead(head, next);
            return;
        }
        while (OverflowNodeLayout.hashNext(address(at)) != node) {
            at = OverflowNodeLayout.hashNext(address(at));
        }
        OverflowNodeLayout.hashNext(address(at), next);
    }

    /** Doubles. All nodes are live when it is called, so each is linked anew under the new heads. */
    private boolean grow() {
        if (capacity == MAX_CAPACITY) {
            return false;
        }
        int larger = capacity == 0 ? FIRST_CAPACITY : capacity * 2;
        if (!budget.tryCharge(bytes(larger))) {
            return false;
        }
        long newNodes = regions.allocate(nodeBytes(larger));
        long newHeads = regions.allocate(headBytes(larger));
        if (newNodes == 0 || newHeads == 0) {
            if (newNodes != 0) {
                regions.free(newNodes, nodeBytes(larger));
            }
            if (newHeads != 0) {
                regions.free(newHeads, headBytes(larger));
            }
            budget.release(bytes(larger));
            return false;
        }
        if (capacity != 0) {
            Memory.copy(nodes, newNodes, nodeBytes(capacity));
            freeRegions(nodes, heads, capacity);
        }
        nodes = newNodes;
        heads = newHeads;
        capacity = larger;
        for (int node = 1; node <= top; node++) {
            link(node);
        }
        return true;
    }

    private void freeRegions(long oldNodes, long oldHeads, int oldCapacity) {
        regions.retire(oldNodes, nodeBytes(oldCapacity));
        regions.retire(oldHeads, headBytes(oldCapacity));
        budget.release(bytes(oldCapacity));
    }

    private long address(int node) {
        return OverflowNodeLayout.address(nodes, node);
    }

    private long home(long address) {
        return IndexBucketLayout.home(OverflowNodeLayout.hash(address), homeMask);
    }

    private long headOfHash(long hash) {
        return head(hash ^ hash >>> 32);
    }

    private long headOfHome(long home) {
        return head(home);
    }

    private long head(long value) {
        long mixed = value * SPREAD;
        mixed = (mixed ^ mixed >>> 29) * SPREAD;
        return heads + (mixed >>> 32 & capacity - 1) * OverflowNodeLayout.HEAD_BYTES;
    }

    private static long bytes(int capacity) {
        return capacity == 0 ? 0 : nodeBytes(capacity) + headBytes(capacity);
    }

    private static long nodeBytes(int capacity) {
        return (long) capacity * OverflowNodeLayout.NODE_BYTES;
    }

    private static long headBytes(int capacity) {
        return Math.max(Regions.MIN_BYTES, (long) capacity * OverflowNodeLayout.HEAD_BYTES);
    }
}
