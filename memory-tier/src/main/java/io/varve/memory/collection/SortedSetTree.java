package io.varve.memory.collection;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.MemberIndexFormat;
import io.varve.memory.collection.tree.NodeLayout;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.ScoreOrder;
import io.varve.memory.collection.tree.ScoredFormat;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.collection.tree.TreeIntegrity;
import io.varve.memory.collection.tree.TreePath;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ItemType;

/**
 * A large sorted set, ordered by score and then by the members' bytes. Confined to one thread, which holds the lock of
 * the item's shard: see {@link CollectionTree}.
 *
 * <p>It consists of two trees: the members by score, and an index that maps the hash of a member to the leaf of the
 * first tree that holds it ({@link MemberIndexFormat}). When entries move to another leaf, the index is updated. A
 * member is therefore found in two steps: a search in the index, and a scan of one leaf.
 */
public final class SortedSetTree extends CollectionTree {
    private static final ScoredFormat FORMAT = ScoredFormat.INSTANCE;

    private final CountedTree index = new CountedTree(MemberIndexFormat.INSTANCE);
    private final MemberByHash member = new MemberByHash();
    private final RecordOfLeaf record = new RecordOfLeaf();
    private final Element element = new Element();
    private final Element old = new Element();
    private final Element entered = new Element();
    private final TreePath spot = new TreePath();
    private final TreePath scanned = new TreePath();
    private final VisitedLeaves visited = new VisitedLeaves();
    /**
     * The leaf and offset of the element at the position, if the path is unknown; and the offset of the previous entry
     * in the leaf, or 0.
     */
    private int foundLeaf;
    private int foundOffset;
    private int foundBefore;

    public SortedSetTree() {
        Relay relay = new Relay();
        super(ItemType.SORTED_SET, 2, new CountedTree(FORMAT, relay));
        relay.to = this::moved;
    }

    /** Forwards moves to a receiver that does not exist yet at construction. Confined to its tree. */
    private static final class Relay implements CountedTree.Moves {
        private CountedTree.Moves to = (from, into, first, count) -> {};

        @Override
        public void moved(int from, int into, long first, int count) {
            to.moved(from, into, first, count);
        }
    }

    @Override
    void openTrees(NodeSpace space, long header) {
        super.openTrees(space, header);
        index.open(space, TreeHeader.record(header, 1));
    }

    @Override
    void forget() {
        super.forget();
        index.forget();
    }

    @Override
    public void expectManyWrites(boolean manyWrites) {
        super.expectManyWrites(manyWrites);
        index.expectManyWrites(manyWrites);
    }

    @Override
    long nodesFor(int writes) {
        return super.nodesFor(writes) + index.nodesFor(writes);
    }

    // --- the element at the position

    /** The address of the member at the position. */
    public long address() {
        return ScoredFormat.address(entry());
    }

    /** Bytes of the member at the position. */
    public int length() {
        return ScoredFormat.length(entry());
    }

    public double score() {
        return ScoreOrder.score(ScoredFormat.stored(entry()));
    }

    private long entry() {
        requireElement();
        return pathKnown ? tree.entry(path) : tree.space().address(foundLeaf) + foundOffset;
    }

    @Override
    void needPath() {
        if (pathKnown || !atElement) {
            super.needPath();
            return;
        }
        long entry = entry();
        old.scored(ScoredFormat.stored(entry), ScoredFormat.address(entry), ScoredFormat.length(entry));
        tree.seek(old, path);
        boolean there = found();
        assert there && tree.entry(path) == entry : "the member is in the index, but not in the order";
    }

    // --- searches

    /** Moves to a member; false, and at the end, if it is missing. */
    public boolean find(long bytes, int length) {
        toEnd();
        atElement = member.find(bytes, length);
        return atElement;
    }

    /** Moves to the first element with at least a score; false, and at the end, if there is none. */
    public boolean seekScore(double score) {
        tree.seek(element.order(ScoreOrder.order(ScoreOrder.stored(score)), false), path);
        return found();
    }

    /** Moves to the first element above a score; false, and at the end, if there is none. */
    public boolean seekAboveScore(double score) {
        tree.seek(element.order(ScoreOrder.order(ScoreOrder.stored(score)), true), path);
        return found();
    }

    /** Moves to the first element not before this one; false, and at the end, if there is none. */
    public boolean seekMember(double score, long bytes, int length) {
        tree.seek(element.scored(ScoreOrder.stored(score), bytes, length), path);
        return found();
    }

    /** Moves to the first element after this one, which need not exist; false, and at the end, if there is none. */
    public boolean seekAboveMember(double score, long bytes, int length) {
        element.scored(ScoreOrder.stored(score), bytes, length);
        element.behindEqual = true;
        tree.seek(element, path);
        return found();
    }

    // --- writes

    /**
     * Sets a member's score; the position is then at the end.
     *
     * @param score not NaN
     * @return false if the member existed
     */
    public boolean put(long bytes, int length, double score) {
        find(bytes, length);
        return putLastSearched(score);
    }

    /**
     * Sets the score of the member that {@link #find} last searched for, without searching again. No other search may
     * have come in between, and the member's bytes must still be at their address.
     */
    public boolean putLastSearched(double score) {
        long stored = ScoreOrder.stored(score);
        boolean exists = atElement;
        if (!exists) {
            add(stored);
        } else if (ScoredFormat.stored(entry()) != stored) {
            move(stored);
        }
        toEnd();
        return !exists;
    }

    private void add(long stored) {
        tree.seek(element.scored(stored, member.bytes, member.length), path);
        tree.reserve(element, path);
        entered.of(member.hash, 0, 0);
        try {
            index.reserve(entered, member.path);
        } catch (CacheFullException full) {
            tree.cancel();
            throw full;
        }
        entered.stored = tree.insertReserved(element, path);
        index.insertReserved(entered, member.path);
    }

    /** Sets another score for the found member. */
    private void move(long stored) {
        element.scored(stored, member.bytes, member.length);
        if (mayStay(stored)) {
            long leaf = tree.space().forWriting(foundLeaf);
            ScoredFormat.stored(leaf + foundOffset, stored);
            return;
        }
        old.scored(ScoredFormat.stored(entry()), member.bytes, member.length);
        tree.seek(element, spot);
        tree.reserve(element, spot);
        int landed = tree.insertReserved(element, spot);
        tree.seek(old, path);
        boolean there = found();
        assert there : "the member does not exist";
        // The member may just have moved to another leaf; it is then unknown which of several equal records is its own.
        if (MemberIndexFormat.leaf(index.entry(member.path)) == path.leaf()) {
            enter(member.path, landed);
        } else {
            enter(member.hash, path.leaf(), landed);
        }
        tree.remove(path, 1);
    }

    /** Whether the found member stays in order with this score, as far as its neighbours in the leaf show. */
    private boolean mayStay(long stored) {
        long leaf = tree.space().address(foundLeaf);
        long entry = leaf + foundOffset;
        if (FORMAT.orderAt(entry) == ScoreOrder.order(stored)) {
            return true;
        }
        int behind = foundOffset + FORMAT.bytesAt(entry);
        return foundBefore != 0 && behind < NodeLayout.used(leaf)
                && FORMAT.isBefore(leaf + foundBefore, element) && !FORMAT.isBefore(leaf + behind, element);
    }

    /** Removes a member, and moves to the next one; false, and at the end, if it was missing. */
    public boolean remove(long bytes, int length) {
        if (!find(bytes, length)) {
            return false;
        }
        needPath();
        index.remove(member.path, 1);
        super.remove();
        return true;
    }

    @Override
    public void remove() {
        needPath();
        removeFromIndex(path.leaf(), entry());
        super.remove();
    }

    @Override
    void removeElements(long from, long to) {
        long left = to - from;
        while (left > 0) {
            path.forget();
            tree.seek(from, path);
            int some = (int) Math.min(left, tree.leftInLeaf(path));
            long entry = tree.entry(path);
            for (int i = 0; i < some; i++) {
                removeFromIndex(path.leaf(), entry);
                entry += FORMAT.bytesAt(entry);
            }
            tree.remove(path, some);
            left -= some;
        }
    }

    // --- the index

    private long hashOf(long entry) {
        return tree.space().hash(ScoredFormat.address(entry), ScoredFormat.length(entry));
    }

    private void removeFromIndex(int leaf, long entry) {
        boolean there = record.find(hashOf(entry), leaf);
        assert there : "the member is not in the index";
        index.remove(record.path, 1);
    }

    private void moved(int from, int to, long first, int count) {
        long entry = first;
        for (int i = 0; i < count; i++) {
            enter(hashOf(entry), from, to);
            entry += FORMAT.bytesAt(entry);
        }
    }

    private void enter(long hash, int from, int to) {
        boolean there = record.find(hash, from);
        assert there : "the member is not in the index";
        enter(record.path, to);
    }

    private void enter(TreePath spotInIndex, int to) {
        long leaf = index.space().forWriting(spotInIndex.leaf());
        MemberIndexFormat.leaf(leaf + spotInIndex.offset, to);
    }

    /**
     * Searches for a member's record by searching for the member in the leaf that a record names. Confined to its tree.
     */
    private final class MemberByHash extends SameHash {
        private long hash;
        private long bytes;
        private int length;

        MemberByHash() {
            super(index, new TreePath());
        }

        boolean find(long soughtBytes, int soughtLength) {
            hash = tree.space().hash(soughtBytes, soughtLength);
            bytes = soughtBytes;
            length = soughtLength;
            return find(hash);
        }

        @Override
        boolean matches(long entry) {
            int leaf = MemberIndexFormat.leaf(entry);
            long at = tree.space().address(leaf);
            int used = NodeLayout.used(at);
            int before = 0;
            int offset = NodeLayout.HEADER_BYTES;
            while (offset < used) {
                if (ScoredFormat.isMember(at + offset, bytes, length)) {
                    foundLeaf = leaf;
                    foundOffset = offset;
                    foundBefore = before;
                    return true;
                }
                before = offset;
                offset += FORMAT.bytesAt(at + offset);
            }
            return false;
        }
    }

    /** Searches for a record with a hash and a leaf. Confined to its tree. */
    private final class RecordOfLeaf extends SameHash {
        private int leaf;

        RecordOfLeaf() {
            super(index, new TreePath());
        }

        boolean find(long hash, int soughtLeaf) {
            leaf = soughtLeaf;
            return find(hash);
        }

        @Override
        boolean matches(long entry) {
            return MemberIndexFormat.leaf(entry) == leaf;
        }
    }

    // --- walks

    /** As {@link SetTree#scan}, for members. */
    public long scan(long cursor, int count, Runnable visit) {
        visited.forget();
        long next = HashedScan.scan(index, entered, scanned, cursor, count, () -> {
            long entry = index.entry(scanned);
            long hash = MemberIndexFormat.hash(entry);
            int leaf = MemberIndexFormat.leaf(entry);
            if (visited.isNew(hash, leaf)) {
                visitAll(hash, leaf, visit);
            }
        });
        toEnd();
        return next;
    }

    /**
     * The leaves visited for the present hash. Members of one leaf with equal hashes are visited together, so each leaf
     * is visited once per hash. Confined to its tree.
     */
    private static final class VisitedLeaves {
        private long hash = -1;
        private int[] leaves = new int[4];
        private int count;

        void forget() {
            hash = -1;
        }

        boolean isNew(long newHash, int leaf) {
            if (newHash != hash) {
                hash = newHash;
                count = 0;
            }
            for (int i = 0; i < count; i++) {
                if (leaves[i] == leaf) {
                    return false;
                }
            }
            if (count == leaves.length) {
                leaves = Arrays.copyOf(leaves, count * 2);
            }
            leaves[count++] = leaf;
            return true;
        }
    }

    private void visitAll(long hash, int leaf, Runnable visit) {
        long at = tree.space().address(leaf);
        int used = NodeLayout.used(at);
        for (int offset = NodeLayout.HEADER_BYTES; offset < used; offset += FORMAT.bytesAt(at + offset)) {
            if (hashOf(at + offset) == hash) {
                foundLeaf = leaf;
                foundOffset = offset;
                pathKnown = false;
                atElement = true;
                visit.run();
            }
        }
    }

    // --- integrity

    @Override
    public void checkIntegrity(IntConsumer nodes, Consumer<String> problems) {
        super.checkIntegrity(nodes, problems);
        TreeIntegrity.check(index, nodes, problems);
        if (index.count() != tree.count()) {
            problems.accept("the index has " + index.count() + " members, but the order has " + tree.count());
        }
        for (boolean more = first(); more; more = next()) {
            if (!record.find(hashOf(entry()), path.leaf())) {
                problems.accept("the index does not have the member of rank " + rank());
            }
        }
    }
}
