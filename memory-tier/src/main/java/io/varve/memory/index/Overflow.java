package io.varve.memory.index;

import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * The entries of one table that fit neither in their home bucket nor in its extension bucket. Guarded by the shard's
 * lock.
 *
 * <p>Nodes are numbered from 1 without gaps: the last node takes the number of a removed one. Each node is in two
 * chains. A second, independent hash of the key chooses the first chain. It spreads the entries of one home bucket,
 * even those with equal first hashes. There are about as many of these chains as nodes, and linear hashing [1] grows
 * and shrinks their number one chain at a time.
 *
 * <p>The second chain belongs to the home bucket and is doubly linked. A scan, a rehash and a freed slot use it to find
 * the entries of a home bucket without walking the others. The first node of each home bucket leads its chain, and a
 * head leads to a chain of such leaders. The number of these heads is fixed: several times the number of home buckets
 * that overflow by chance.
 *
 * <pre>
 *   head --> leader of home 7 --------------> leader of home 99 --> none
 *                | next   ^ previous              | next
 *            node of 7 ---+                   node of 99 ...
 *            node of 7 ... 100,000 more
 * </pre>
 *
 * <p>No operation therefore takes longer with more entries, and none allocates more memory than a slab, however many
 * keys an attacker has chosen. The overflow holds no memory until its first entry, and a few pages after the last.
 *
 * <p>[1] Witold Litwin: Linear Hashing: A New Tool for File and Table Addressing. VLDB 1980.
 */
final class Overflow {
    /** No node. */
    static final int NONE = 0;
    /** A page of heads: the least number of hash chains, and of home bucket chains. */
    private static final int FIRST_HEADS = (int) (Regions.MIN_BYTES / OverflowNodeLayout.LINK_BYTES);
    /** Home buckets per chain of leaders; about one home bucket in some hundred overflows by chance. */
    private static final int HOMES_PER_HEAD = 32;
    private static final int MAX_HOME_HEADS = 1 << 24;
    private static final int MAX_NODES = 1 << 30;
    /** The most chains that a removal joins, while there are twice as many chains as nodes. */
    private static final int JOINS_PER_REMOVE = 2;
    /** 2^64 divided by the golden ratio, odd: the multiplication spreads any bits over the high ones. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private final long homeMask;
    private final KeyVerifier verifier;
    private final Regions regions;
    private final MemoryBudget budget;
    private final Slabs nodes;
    private final Slabs hashHeads;
    private final int homeHeadCount;
    private long homeHeads;
    private int hashHeadCount = FIRST_HEADS;
    private int count;

    Overflow(long homeMask, KeyVerifier verifier, Regions regions, MemoryBudget budget) {
        this.homeMask = homeMask;
        this.verifier = verifier;
        this.regions = regions;
        this.budget = budget;
        nodes = new Slabs(OverflowNodeLayout.NODE_BYTES, regions, budget);
        hashHeads = new Slabs(OverflowNodeLayout.LINK_BYTES, regions, budget);
        homeHeadCount = Math.clamp((homeMask + 1) / HOMES_PER_HEAD, FIRST_HEADS, MAX_HOME_HEADS);
    }

    /** The number of nodes, and the highest node number. */
    int count() {
        return count;
    }

    long bytes() {
        return nodes.bytes() + hashHeads.bytes() + (homeHeads == 0 ? 0 : homeHeadBytes());
    }

    /** The most memory that an addition may need. */
    long wantedBytes() {
        return nodes.nextBytes() + hashHeads.nextBytes() + (homeHeads == 0 ? homeHeadBytes() : 0);
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

    /** The node of this key, or {@link #NONE}. */
    int find(long hash, long keyAddress, int keyLength) {
        if (count == 0) {
            return NONE;
        }
        int second = verifier.secondHash(keyAddress, keyLength);
        int node = OverflowNodeLayout.link(hashHead(second));
        while (node != NONE) {
            long address = address(node);
            if (OverflowNodeLayout.hash(address) == hash && OverflowNodeLayout.second(address) == second
                    && verifier.matches(OverflowNodeLayout.location(address), keyAddress, keyLength)) {
                return node;
            }
            node = OverflowNodeLayout.hashNext(address);
        }
        return NONE;
    }

    /** The node of this hash and location, or {@link #NONE}. The item must still be at the location. */
    int locate(long hash, long location) {
        if (count == 0) {
            return NONE;
        }
        int node = OverflowNodeLayout.link(hashHead(verifier.secondHashOf(location)));
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
        if (count == 0) {
            return NONE;
        }
        int leader = OverflowNodeLayout.link(homeHead(home));
        while (leader != NONE && home(address(leader)) != home) {
            leader = OverflowNodeLayout.nextLeader(address(leader));
        }
        return leader;
    }

    /** The node of the same home bucket after {@code node}, or {@link #NONE}. */
    int nextOfHome(int node) {
        return OverflowNodeLayout.homeNext(address(node));
    }

    /** Adds an entry, whose item must already be at the location; false, with nothing changed, if memory is refused. */
    boolean add(long hash, long location) {
        if (!hasSpace()) {
            return false;
        }
        int leader = firstOfHome(IndexBucketLayout.home(hash, homeMask));
        int node = ++count;
        long address = address(node);
        OverflowNodeLayout.hash(address, hash);
        OverflowNodeLayout.location(address, location);
        OverflowNodeLayout.second(address, verifier.secondHashOf(location));
        linkToHash(node, address);
        linkToHome(node, address, leader);
        if (count > hashHeadCount) {
            splitChain();
        }
        return true;
    }

    void remove(int node) {
        long address = address(node);
        redirectHash(node, address, OverflowNodeLayout.hashNext(address));
        unlinkFromHome(node, address);
        if (node != count) {
            moveLastTo(node, address);
        }
        count--;
        for (int i = 0; i < JOINS_PER_REMOVE && hashHeadCount > FIRST_HEADS && count < hashHeadCount / 2; i++) {
            joinLastChain();
        }
        if (count == 0 && nodes.bytes() > Regions.MIN_BYTES) {
            release();
        } else {
            hashHeads.shrink(hashHeadCount);
            nodes.shrink(count);
        }
    }

    /** Frees all memory; the overflow is then empty and usable. */
    void release() {
        nodes.release();
        hashHeads.release();
        if (homeHeads != 0) {
            regions.free(homeHeads, homeHeadBytes());
            budget.release(homeHeadBytes());
        }
        homeHeads = 0;
        hashHeadCount = FIRST_HEADS;
        count = 0;
    }

    private boolean hasSpace() {
        if (homeHeads == 0 && !takeHeads()) {
            return false;
        }
        return count < nodes.capacity() || count < MAX_NODES && nodes.grow();
    }

    /** Allocates the heads, which exist from the first entry on. */
    private boolean takeHeads() {
        if (hashHeads.capacity() == 0 && !hashHeads.grow() || !budget.tryCharge(homeHeadBytes())) {
            return false;
        }
        homeHeads = regions.allocate(homeHeadBytes());
        if (homeHeads == 0) {
            budget.release(homeHeadBytes());
            return false;
        }
        return true;
    }

    private void linkToHash(int node, long address) {
        long head = hashHead(OverflowNodeLayout.second(address));
        OverflowNodeLayout.hashNext(address, OverflowNodeLayout.link(head));
        OverflowNodeLayout.link(head, node);
    }

    /** Links a node behind the leader of its home bucket, or as a leader in front of all others of the chain. */
    private void linkToHome(int node, long address, int leader) {
        if (leader == NONE) {
            long head = homeHead(home(address));
            OverflowNodeLayout.homeNext(address, NONE);
            OverflowNodeLayout.nextLeader(address, OverflowNodeLayout.link(head));
            OverflowNodeLayout.link(head, node);
            return;
        }
        long leading = address(leader);
        int next = OverflowNodeLayout.homeNext(leading);
        OverflowNodeLayout.homeNext(address, next);
        OverflowNodeLayout.homePrevious(address, leader);
        OverflowNodeLayout.homeNext(leading, node);
        if (next != NONE) {
            OverflowNodeLayout.homePrevious(address(next), node);
        }
    }

    /** Redirects the link to a node in its hash chain. */
    private void redirectHash(int node, long address, int to) {
        long head = hashHead(OverflowNodeLayout.second(address));
        int at = OverflowNodeLayout.link(head);
        if (at == node) {
            OverflowNodeLayout.link(head, to);
            return;
        }
        while (OverflowNodeLayout.hashNext(address(at)) != node) {
            at = OverflowNodeLayout.hashNext(address(at));
        }
        OverflowNodeLayout.hashNext(address(at), to);
    }

    private void unlinkFromHome(int node, long address) {
        int next = OverflowNodeLayout.homeNext(address);
        if (!OverflowNodeLayout.leads(address)) {
            int previous = OverflowNodeLayout.homePrevious(address);
            OverflowNodeLayout.homeNext(address(previous), next);
            if (next != NONE) {
                OverflowNodeLayout.homePrevious(address(next), previous);
            }
            return;
        }
        int nextLeader = OverflowNodeLayout.nextLeader(address);
        if (next == NONE) {
            redirectLeader(node, address, nextLeader);
        } else {
            redirectLeader(node, address, next);
            OverflowNodeLayout.nextLeader(address(next), nextLeader);
        }
    }

    /** Redirects the link to a leader. */
    private void redirectLeader(int node, long address, int to) {
        long head = homeHead(home(address));
        int at = OverflowNodeLayout.link(head);
        if (at == node) {
            OverflowNodeLayout.link(head, to);
            return;
        }
        while (OverflowNodeLayout.nextLeader(address(at)) != node) {
            at = OverflowNodeLayout.nextLeader(address(at));
        }
        OverflowNodeLayout.nextLeader(address(at), to);
    }

    /** Renumbers the node with the highest number to a free number. */
    private void moveLastTo(int node, long address) {
        long last = address(count);
        redirectHash(count, last, node);
        if (OverflowNodeLayout.leads(last)) {
            redirectLeader(count, last, node);
        } else {
            OverflowNodeLayout.homeNext(address(OverflowNodeLayout.homePrevious(last)), node);
        }
        int next = OverflowNodeLayout.homeNext(last);
        if (next != NONE) {
            OverflowNodeLayout.homePrevious(address(next), node);
        }
        Memory.copy(last, address, OverflowNodeLayout.NODE_BYTES);
    }

    /** Adds one hash chain. If memory is refused, the chains get longer instead. */
    private void splitChain() {
        if (hashHeadCount == hashHeads.capacity() && !hashHeads.grow()) {
            return;
        }
        long split = hashHeads.address(hashHeadCount - Integer.highestOneBit(hashHeadCount));
        OverflowNodeLayout.link(hashHeads.address(hashHeadCount), NONE);
        hashHeadCount++;
        int node = OverflowNodeLayout.link(split);
        OverflowNodeLayout.link(split, NONE);
        while (node != NONE) {
            long address = address(node);
            int next = OverflowNodeLayout.hashNext(address);
            linkToHash(node, address);
            node = next;
        }
    }

    private void joinLastChain() {
        hashHeadCount--;
        int node = OverflowNodeLayout.link(hashHeads.address(hashHeadCount));
        while (node != NONE) {
            long address = address(node);
            int next = OverflowNodeLayout.hashNext(address);
            linkToHash(node, address);
            node = next;
        }
    }

    private long address(int node) {
        return nodes.address(node - 1);
    }

    private long home(long address) {
        return IndexBucketLayout.home(OverflowNodeLayout.hash(address), homeMask);
    }

    private long hashHead(int second) {
        int round = Integer.highestOneBit(hashHeadCount);
        int chain = spread(second) & 2 * round - 1;
        return hashHeads.address(chain < hashHeadCount ? chain : chain - round);
    }

    private long homeHead(long home) {
        return homeHeads + (long) (spread(home) & homeHeadCount - 1) * OverflowNodeLayout.LINK_BYTES;
    }

    private static int spread(long value) {
        long mixed = value * SPREAD;
        mixed = (mixed ^ mixed >>> 29) * SPREAD;
        return (int) (mixed >>> 32);
    }

    private long homeHeadBytes() {
        return (long) homeHeadCount * OverflowNodeLayout.LINK_BYTES;
    }
}
