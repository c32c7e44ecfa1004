package io.varve.memory.collection;

import java.util.function.Consumer;
import java.util.function.IntConsumer;

import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.KeyedFormat;
import io.varve.memory.collection.tree.NodeLayout;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.collection.tree.TreeIntegrity;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;

/**
 * A stream with several blocks or with groups. Confined to one thread, which holds the lock of the item's shard: see
 * {@link CollectionTree}.
 *
 * <p>Its elements are the blocks of entries ({@link io.varve.memory.collection.stream.StreamBlock}), each under the ID
 * of its first entry. Three more trees have {@link StreamRecords}: the groups and their consumers, which are few, so
 * that they are found in one node; the pending entries of groups; and those of consumers. The metadata
 * ({@link StreamMetadataLayout}) is in the header behind the records of the trees. A stream may have neither blocks nor
 * groups.
 */
public final class StreamTree extends CollectionTree {
    private static final int ID_BYTES = 2 * Long.BYTES;
    /** The most bytes of a leaf with one block beyond those of the block. */
    private static final int BEYOND_BLOCK_BYTES = NodeLayout.HEADER_BYTES + ID_BYTES + 6;
    /** The most bytes that a new block gets in advance. */
    private static final int MAX_EXPECTED_BYTES = 4096;

    private final StreamRecords groups = new StreamRecords();
    private final StreamRecords pending = new StreamRecords();
    private final StreamRecords owned = new StreamRecords();
    private final Element element = new Element();

    public StreamTree() {
        super(ItemType.STREAM, 4, StreamMetadataLayout.BYTES, new CountedTree(KeyedFormat.INSTANCE));
    }

    @Override
    void openTrees(NodeSpace space, long header) {
        super.openTrees(space, header);
        groups.open(space, TreeHeader.record(header, 1));
        pending.open(space, TreeHeader.record(header, 2));
        owned.open(space, TreeHeader.record(header, 3));
    }

    @Override
    void forget() {
        super.forget();
        groups.forget();
        pending.forget();
        owned.forget();
    }

    @Override
    public void expectManyWrites(boolean manyWrites) {
        super.expectManyWrites(manyWrites);
        groups.tree().expectManyWrites(manyWrites);
        pending.tree().expectManyWrites(manyWrites);
        owned.tree().expectManyWrites(manyWrites);
    }

    @Override
    long nodesFor(int writes) {
        // Several writes are records, and each of them goes to one tree; a block is written alone.
        long records = Math.max(groups.tree().nodesFor(writes),
                Math.max(pending.tree().nodesFor(writes), owned.tree().nodesFor(writes)));
        return Math.max(super.nodesFor(writes), records);
    }

    @Override
    public boolean mayBeEmpty() {
        return true;
    }

    /** The address of the metadata, also for writing. */
    public long metadata() {
        return more();
    }

    /** The groups and their consumers. */
    public StreamRecords groups() {
        return groups;
    }

    /** The pending entries of all groups. */
    public StreamRecords pending() {
        return pending;
    }

    /** The pending entries of all consumers. */
    public StreamRecords owned() {
        return owned;
    }

    // --- the block at the position

    /** Milliseconds of the block's ID. */
    public long blockMs() {
        return Long.reverseBytes(Memory.getLong(KeyedFormat.keyAddress(entry())));
    }

    /** Sequence number of the block's ID. */
    public long blockSeq() {
        return Long.reverseBytes(Memory.getLong(KeyedFormat.keyAddress(entry()) + Long.BYTES));
    }

    public long blockAddress() {
        return KeyedFormat.valueAddress(entry());
    }

    public int blockLength() {
        return KeyedFormat.valueLength(entry());
    }

    private long entry() {
        requireElement();
        return tree.entry(path);
    }

    /**
     * Moves to the last block whose ID is not greater, or else to the first block; false, and at the end, if there are
     * no blocks.
     *
     * @param scratch 16 bytes, which are overwritten
     */
    public boolean seekBlock(long ms, long seq, long scratch) {
        key(scratch, ms, seq);
        element.behindEqual = true;
        path.forget();
        tree.seek(element, path);
        pathKnown = true;
        if (tree.previous(path)) {
            atElement = true;
            return true;
        }
        return first();
    }

    private Element key(long scratch, long ms, long seq) {
        Memory.putLong(scratch, Long.reverseBytes(ms));
        Memory.putLong(scratch + Long.BYTES, Long.reverseBytes(seq));
        return element.of(KeyedFormat.order(scratch, ID_BYTES), scratch, ID_BYTES);
    }

    // --- writes

    /**
     * Adds a block behind the last, and moves to it. It gets memory to grow to the length of the last one without being
     * moved, because a moved block leaves dead bytes behind.
     *
     * @param scratch 16 bytes, which are overwritten
     * @return the address of the block, whose bytes the caller writes
     */
    public long addBlock(long ms, long seq, int length, long scratch) {
        int expected = length;
        if (size() > 0) {
            last();
            expected = Math.max(length, expectedBytes(blockLength()));
            tree.shrinkToFit(path);
        }
        toEnd();
        needPath();
        key(scratch, ms, seq);
        tree.insert(element.of(KeyedFormat.order(scratch, ID_BYTES), scratch, ID_BYTES, 0, expected), path);
        pathKnown = true;
        atElement = true;
        if (expected > length) {
            tree.shortenValue(path, length);
        }
        return blockAddress();
    }

    /** The length that the block behind one of this length is expected to reach. */
    private static int expectedBytes(int lastBlock) {
        return Math.min(MAX_EXPECTED_BYTES, lastBlock + (lastBlock >> 6) + Long.BYTES);
    }

    /**
     * Changes the length of the block at the position; its bytes up to the shorter of both lengths stay.
     *
     * @param capacity bytes that the block may then grow to in place, at least {@code length}
     * @return its address, for writing
     */
    public long resizeBlock(int length, int capacity) {
        int oldLength = blockLength();
        if (length != oldLength
                && !tree.resizeValue(path, length, BEYOND_BLOCK_BYTES + capacity)) {
            replaceBlock(oldLength, length);
        }
        return writeBlock();
    }

    /** Moves the block, which has become too long for the leaf that it shares with others. */
    private void replaceBlock(int oldLength, int length) {
        int copy = tree.allocate(NodeLayout.HEADER_BYTES + ID_BYTES + length);
        try {
            long key = tree.space().address(copy) + NodeLayout.HEADER_BYTES;
            Memory.copy(KeyedFormat.keyAddress(entry()), key, ID_BYTES);
            Memory.copy(blockAddress(), key + ID_BYTES, oldLength);
            tree.replace(element.of(KeyedFormat.order(key, ID_BYTES), key, ID_BYTES, key + ID_BYTES, length), path);
        } finally {
            tree.free(copy);
        }
    }

    /** The address of the block at the position, for writing within its length. */
    public long writeBlock() {
        requireElement();
        tree.space().forWriting(path.leaf());
        return blockAddress();
    }

    // --- integrity

    @Override
    public void checkIntegrity(IntConsumer nodes, Consumer<String> problems) {
        super.checkIntegrity(nodes, problems);
        TreeIntegrity.check(groups.tree(), nodes, problems);
        TreeIntegrity.check(pending.tree(), nodes, problems);
        TreeIntegrity.check(owned.tree(), nodes, problems);
    }
}
