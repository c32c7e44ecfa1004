package io.varve.server.command.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.StreamTree;
import io.varve.memory.collection.stream.BlockCursor;
import io.varve.memory.collection.stream.StreamBlock;
import io.varve.memory.collection.stream.StreamFields;
import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import org.jspecify.annotations.Nullable;

/**
 * A stream value, packed or a tree: its metadata, its entries in the order of their IDs with a cursor over them, and
 * the records of its groups. Confined to its event loop; reused from command to command, and valid while the shard of
 * its key is locked.
 *
 * <p>A missing stream has no entries. A stream without entries stays. A packed stream has at most one block; with its
 * second block or its first group it becomes a tree for good. IDs are unsigned pairs; those not deleted ascend.
 *
 * <p>Each write may be refused ({@link CacheFullException}), and then has changed nothing; deletions and trims never
 * are. A write invalidates the cursor unless it says otherwise. After its last write a command calls {@link #changed}.
 */
public final class StreamValue {
    private static final int PACKED = 0;
    private static final int MAX_BYTES = Integer.MAX_VALUE / 2 - 1024;
    private static final int SCRATCH_BYTES = 2 * Long.BYTES;

    private final Item item = new Item();
    private final StreamTree tree = new StreamTree();
    private final BlockCursor cursor = new BlockCursor();
    private final TreeFiller fill = this::fillTree;
    private final ByteBuffer scratchBuffer = ByteBuffer.allocateDirect(SCRATCH_BYTES);
    private final long scratch = MemorySegment.ofBuffer(scratchBuffer).address();
    private @Nullable CommandContext context;
    private @Nullable Key key;
    private boolean present;
    private boolean isTree;
    private boolean atEntry;
    /** The writer of a tree under construction. */
    private @Nullable Runnable writer;
    /** The entry that {@link #append} adds, for a block of its own. */
    private @Nullable StreamFields appended;
    private long appendedMs;
    private long appendedSeq;
    private final Runnable appendBlock = this::appendBlock;

    // --- open

    /** Opens a key for reading; replies the error if it has another type. */
    public Found open(CommandContext command, Key at) {
        return opened(command, at, KeyLookup.find(command, at, item, ItemType.STREAM));
    }

    /** Opens a key for writing; replies the error if it has another type. */
    public Found openForWriting(CommandContext command, Key at) {
        return opened(command, at, KeyLookup.findForWriting(command, at, item, ItemType.STREAM));
    }

    /** Opens a key without a reply, and without counting a hit or an access. */
    public Found peek(CommandContext command, Key at) {
        return opened(command, at, command.session().peek(at, item));
    }

    /** Opens a key for writing without a reply. */
    public Found lookUp(CommandContext command, Key at) {
        return opened(command, at, command.session().findForWriting(at, item));
    }

    private Found opened(CommandContext command, Key at, boolean there) {
        boolean stream = there && item.type() == ItemType.STREAM;
        return opened(command, at, stream ? Found.PRESENT : there ? Found.WRONG_TYPE : Found.MISSING);
    }

    private Found opened(CommandContext command, Key at, Found found) {
        context = command;
        key = at;
        present = found == Found.PRESENT;
        isTree = present && item.isTree();
        atEntry = false;
        if (isTree) {
            command.session().open(at, item, tree);
        }
        return found;
    }

    /**
     * Makes a stream that is present writable, before deletions, trims and changes of metadata.
     * @throws CacheFullException only for a large packed stream that a snapshot or a reply still reads
     */
    public void prepare() {
        if (!isTree) {
            session().resize(key(), item, PACKED, item.valueLength(), item.valueLength());
        }
    }

    /** Reports the command's writes to listeners. */
    public void changed() {
        session().changed(key(), Change.SET);
    }

    /** Reports the command's writes to groups or metadata to listeners; as in Redis, no client is told. */
    public void internalsChanged() {
        session().changed(key(), Change.INTERNAL);
    }

    // --- metadata

    /** The address of the metadata of a stream that is present, for {@link StreamMetadataLayout}; also for writing. */
    public long metadata() {
        return isTree ? tree.metadata() : item.valueAddress();
    }

    public boolean isPresent() {
        return present;
    }

    /** The number of entries. */
    public long length() {
        return present ? StreamMetadataLayout.length(metadata()) : 0;
    }

    public long lastMs() {
        return present ? StreamMetadataLayout.lastMs(metadata()) : 0;
    }

    public long lastSeq() {
        return present ? StreamMetadataLayout.lastSeq(metadata()) : 0;
    }

    /** The number of blocks. */
    public long blocks() {
        return isTree ? tree.size() : hasPackedBlock() ? 1 : 0;
    }

    /** The nodes of Redis's radix tree for so many blocks; an estimate from the first ones if there are very many. */
    public long radixTreeNodes() {
        if (!isTree) {
            return hasPackedBlock() ? 2 : 1;
        }
        atEntry = false;
        return RadixTreeSize.of(tree);
    }

    private boolean hasPackedBlock() {
        return present && !isTree && item.valueLength() > StreamMetadataLayout.BYTES;
    }

    // --- the cursor

    /** Moves the cursor to the first entry with at least an ID; false if there is none. */
    public boolean seek(long ms, long seq) {
        if (!openBlockOf(ms, seq)) {
            return false;
        }
        boolean more = cursor.first();
        while (more && (cursor.isDeleted() || StreamId.compare(cursor.ms(), cursor.seq(), ms, seq) < 0)) {
            more = cursor.next();
        }
        return ahead(more);
    }

    /** Moves the cursor to the last entry with at most an ID; false if there is none. */
    public boolean seekBack(long ms, long seq) {
        if (!openBlockOf(ms, seq)) {
            return false;
        }
        boolean more = cursor.last();
        while (more && (cursor.isDeleted() || StreamId.compare(cursor.ms(), cursor.seq(), ms, seq) > 0)) {
            more = cursor.previous();
        }
        return back(more);
    }

    /** Moves the cursor to an entry; false if it does not exist or is deleted. */
    public boolean find(long ms, long seq) {
        return seek(ms, seq) && cursor.ms() == ms && cursor.seq() == seq;
    }

    /** Moves the cursor to the next entry; false if there is none. */
    public boolean next() {
        assert atEntry;
        return ahead(cursor.next());
    }

    /** Moves the cursor to the previous entry; false if there is none. */
    public boolean previous() {
        assert atEntry;
        return back(cursor.previous());
    }

    /** Opens the block in which an ID is or would be; false if there are no blocks. */
    private boolean openBlockOf(long ms, long seq) {
        atEntry = false;
        if (isTree ? !tree.seekBlock(ms, seq, scratch) : !hasPackedBlock()) {
            return false;
        }
        openBlock();
        return true;
    }

    private void openBlock() {
        if (isTree) {
            cursor.open(tree.blockAddress(), tree.blockMs(), tree.blockSeq());
        } else {
            long value = item.valueAddress();
            cursor.open(value + StreamMetadataLayout.PACKED_BLOCK, StreamMetadataLayout.packedMs(value),
                    StreamMetadataLayout.packedSeq(value));
        }
    }

    /** Moves on to an entry that is not deleted. */
    private boolean ahead(boolean found) {
        boolean more = found;
        while (true) {
            while (more && cursor.isDeleted()) {
                more = cursor.next();
            }
            if (more || !isTree || !tree.next()) {
                atEntry = more;
                return more;
            }
            openBlock();
            more = cursor.first();
        }
    }

    /** Moves back to an entry that is not deleted. */
    private boolean back(boolean found) {
        boolean more = found;
        while (true) {
            while (more && cursor.isDeleted()) {
                more = cursor.previous();
            }
            if (more || !isTree || !tree.previous()) {
                atEntry = more;
                return more;
            }
            openBlock();
            more = cursor.last();
        }
    }

    /** Whether the cursor is at an entry. */
    public boolean isAtEntry() {
        return atEntry;
    }

    /** The entry at the cursor. */
    public BlockCursor entry() {
        assert atEntry;
        return cursor;
    }

    // --- additions

    /**
     * Adds an entry and creates the stream if it is missing. Sets the last ID, the counts, and the first ID.
     *
     * @param ms the ID, greater than the last
     */
    public void append(long ms, long seq, StreamFields fields) {
        appended = fields;
        appendedMs = ms;
        appendedSeq = seq;
        if (!present) {
            appendFirst();
        } else if (isTree) {
            appendToTree();
        } else if (!hasPackedBlock()) {
            appendFirst();
        } else {
            appendToPacked();
        }
        appended = null;
        long metadata = metadata();
        long length = StreamMetadataLayout.length(metadata) + 1;
        StreamMetadataLayout.length(metadata, length);
        StreamMetadataLayout.added(metadata, StreamMetadataLayout.added(metadata) + 1);
        StreamMetadataLayout.lastId(metadata, ms, seq);
        if (length == 1) {
            StreamMetadataLayout.firstId(metadata, ms, seq);
        }
        atEntry = false;
    }

    private StreamFields fields() {
        return java.util.Objects.requireNonNull(appended);
    }

    /** Writes the first block of a packed stream. */
    private void appendFirst() {
        long bytes = StreamBlock.newBytes(fields());
        int needed = checked(StreamMetadataLayout.PACKED_BLOCK + bytes);
        if (present) {
            session().resize(key(), item, PACKED, needed, needed);
        } else {
            session().put(key(), item, ItemType.STREAM, PACKED, needed, needed, Item.NEVER);
            StreamMetadataLayout.clear(item.valueAddress());
            present = true;
        }
        long value = item.valueAddress();
        StreamMetadataLayout.packedId(value, appendedMs, appendedSeq);
        StreamBlock.create(value + StreamMetadataLayout.PACKED_BLOCK, (int) bytes, fields());
    }

    private void appendToPacked() {
        long block = item.valueAddress() + StreamMetadataLayout.PACKED_BLOCK;
        if (isFull(block, item.valueLength() - StreamMetadataLayout.PACKED_BLOCK)) {
            becomeTree(appendBlock);
            return;
        }
        long ms = appendedMs - StreamMetadataLayout.packedMs(item.valueAddress());
        long seq = appendedSeq - StreamMetadataLayout.packedSeq(item.valueAddress());
        boolean same = StreamBlock.hasSameFields(block, fields());
        int bytes = checked(StreamBlock.appendedBytes(block, fields(), same, ms, seq));
        session().resize(key(), item, PACKED, StreamMetadataLayout.PACKED_BLOCK + bytes,
                StreamMetadataLayout.PACKED_BLOCK + capacity(bytes));
        StreamBlock.append(item.valueAddress() + StreamMetadataLayout.PACKED_BLOCK, bytes, fields(), same, ms, seq);
    }

    private void appendToTree() {
        if (!tree.last() || isFull(tree.blockAddress(), tree.blockLength())) {
            appendBlock();
            return;
        }
        long ms = appendedMs - tree.blockMs();
        long seq = appendedSeq - tree.blockSeq();
        boolean same = StreamBlock.hasSameFields(tree.blockAddress(), fields());
        int bytes = checked(StreamBlock.appendedBytes(tree.blockAddress(), fields(), same, ms, seq));
        long block = tree.resizeBlock(bytes, capacity(bytes));
        StreamBlock.append(block, bytes, fields(), same, ms, seq);
    }

    /** Adds a block with the entry to the tree. */
    private void appendBlock() {
        int bytes = checked(StreamBlock.newBytes(fields()));
        StreamBlock.create(tree.addBlock(appendedMs, appendedSeq, bytes, scratch), bytes, fields());
    }

    private static int checked(long bytes) {
        if (bytes > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        return (int) bytes;
    }

    /** Whether the next entry begins a new block, as in Redis. */
    private boolean isFull(long block, int bytes) {
        long maxBytes = call().server().config().streamNodeMaxBytes();
        long maxEntries = call().server().config().streamNodeMaxEntries();
        return bytes + StreamBlock.payloadBytes(fields()) >= (maxBytes == 0 || maxBytes > StreamBlock.MAX_PAYLOAD_BYTES
                ? StreamBlock.MAX_PAYLOAD_BYTES
                : maxBytes)
                || maxEntries > 0 && StreamBlock.entries(block) + StreamBlock.deleted(block) >= maxEntries;
    }

    /** Half as much again, so that a block is rarely copied while it grows, but no more than it will need. */
    private int capacity(int bytes) {
        long max = call().server().config().streamNodeMaxBytes();
        long more = bytes + (long) (bytes >> 1);
        return (int) Math.min(MAX_BYTES, max > bytes ? Math.min(max, more) : max == 0 ? more : bytes);
    }

    // --- the tree

    /**
     * Runs writes to the records of groups, all or none of which happen; the stream becomes a tree first if it is none,
     * and is created if it is missing.
     *
     * @param writes the most records that are put
     * @param longest bytes of the longest record, key and value
     * @param how does the writes, through the {@link #tree}
     */
    public void changeRecords(int writes, long longest, Runnable how) {
        if (!isTree) {
            becomeTree(how);
            atEntry = false;
        } else {
            tree.atomically(writes, longest, how);
        }
    }

    private void becomeTree(Runnable how) {
        boolean wasPresent = present;
        boolean made = false;
        writer = how;
        try {
            session().makeTree(key(), item, tree, CacheSession.KEEP, fill);
            made = true;
        } finally {
            isTree = made;
            present = made || wasPresent;
        }
    }

    private void fillTree() {
        if (present) {
            long value = item.valueAddress();
            Memory.copy(value, tree.metadata(), StreamMetadataLayout.BYTES);
            if (hasPackedBlock()) {
                int bytes = item.valueLength() - StreamMetadataLayout.PACKED_BLOCK;
                long block = tree.addBlock(StreamMetadataLayout.packedMs(value), StreamMetadataLayout.packedSeq(value),
                        bytes, scratch);
                Memory.copy(value + StreamMetadataLayout.PACKED_BLOCK, block, bytes);
            }
        }
        isTree = true;
        present = true;
        java.util.Objects.requireNonNull(writer).run();
    }

    /** Whether the stream has groups. */
    public boolean hasGroups() {
        return isTree && tree.groups().size() > 0;
    }

    /** The tree, which has the records of groups; only if the stream is one. */
    public StreamTree tree() {
        assert isTree;
        return tree;
    }

    /** A number for a new group; called within {@link #changeRecords}. */
    public int newGroupId() {
        long metadata = metadata();
        long id = StreamMetadataLayout.nextGroup(metadata);
        StreamMetadataLayout.nextGroup(metadata, id + 1);
        return (int) id;
    }

    // --- deletions

    /** Deletes the cursor's entry, without the metadata beyond the length. The cursor is then undefined. */
    public void delete() {
        assert atEntry;
        atEntry = false;
        long metadata = metadata();
        StreamMetadataLayout.length(metadata, StreamMetadataLayout.length(metadata) - 1);
        if (StreamBlock.entries(block()) == 1) {
            removeBlock();
            return;
        }
        int bytes = StreamBlock.markedBytes(block(), 1);
        if (!mayResize(bytes)) {
            resizeBlock(cursor.drop());
            return;
        }
        cursor.mark();
        StreamBlock.countMarked(block(), 1);
        resizeBlock(bytes);
    }

    private long block() {
        return isTree ? tree.blockAddress() : item.valueAddress() + StreamMetadataLayout.PACKED_BLOCK;
    }

    private int blockLength() {
        return isTree ? tree.blockLength() : item.valueLength() - StreamMetadataLayout.PACKED_BLOCK;
    }

    private void removeBlock() {
        if (isTree) {
            tree.remove();
        } else {
            session().resize(key(), item, PACKED, StreamMetadataLayout.BYTES, StreamMetadataLayout.BYTES);
        }
    }

    /** Makes the block longer if necessary; false if there is no memory for it. */
    private boolean mayResize(int bytes) {
        if (bytes <= blockLength()) {
            return true;
        }
        try {
            resizeBlock(bytes);
        } catch (CacheFullException full) {
            return false;
        }
        cursor.moved(block());
        return true;
    }

    private void resizeBlock(int bytes) {
        if (bytes == blockLength()) {
            return;
        }
        if (isTree) {
            tree.resizeBlock(bytes, bytes);
        } else {
            int needed = StreamMetadataLayout.PACKED_BLOCK + bytes;
            session().resize(key(), item, PACKED, needed, needed);
        }
    }

    /** Sets the first ID from the first entry; a stream without entries has 0-0. */
    public void renewFirstId() {
        if (seek(0, 0)) {
            StreamMetadataLayout.firstId(metadata(), cursor.ms(), cursor.seq());
        } else {
            StreamMetadataLayout.firstId(metadata(), 0, 0);
        }
    }

    /**
     * Deletes entries from the start, whole blocks first; also sets the first ID.
     *
     * @param bound decides what stays
     * @param isApproximate whether only whole blocks are deleted
     * @param limit the most entries to delete, 0 for no limit; only whole blocks count
     * @return the number of deleted entries
     */
    public long trim(StreamTrim bound, boolean isApproximate, long limit) {
        long deleted = 0;
        atEntry = false;
        while (isTree ? tree.first() : hasPackedBlock()) {
            long length = length();
            if (bound.isMet(length)) {
                break;
            }
            long entries = StreamBlock.entries(block());
            if (limit > 0 && deleted + entries > limit) {
                break;
            }
            openBlock();
            if (bound.coversBlock(length, entries, cursor)) {
                removeBlock();
                StreamMetadataLayout.length(metadata(), length - entries);
                deleted += entries;
                continue;
            }
            if (!isApproximate) {
                deleted += trimBlock(bound);
            }
            break;
        }
        if (deleted > 0) {
            renewFirstId();
        }
        return deleted;
    }

    /** Marks entries of the first block. */
    private long trimBlock(StreamTrim bound) {
        long length = length();
        long marked = 0;
        for (boolean more = cursor.first(); more && bound.covers(length - marked, cursor); more = cursor.next()) {
            marked += cursor.isDeleted() ? 0 : 1;
        }
        int bytes = StreamBlock.markedBytes(block(), marked);
        if (mayResize(bytes)) {
            long left = marked;
            for (boolean more = cursor.first(); left > 0 && more; more = cursor.next()) {
                if (!cursor.isDeleted()) {
                    cursor.mark();
                    left--;
                }
            }
            StreamBlock.countMarked(block(), marked);
            resizeBlock(bytes);
        } else {
            for (long left = marked; left > 0; left--) {
                boolean more = cursor.first();
                while (more && cursor.isDeleted()) {
                    more = cursor.next();
                }
                resizeBlock(cursor.drop());
                openBlock();
            }
        }
        StreamMetadataLayout.length(metadata(), length - marked);
        return marked;
    }

    private CacheSession session() {
        return call().session();
    }

    private CommandContext call() {
        return java.util.Objects.requireNonNull(context);
    }

    private Key key() {
        return java.util.Objects.requireNonNull(key);
    }
}
