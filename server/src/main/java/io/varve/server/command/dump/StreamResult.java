package io.varve.server.command.dump;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

import io.varve.memory.collection.StreamRecords;
import io.varve.memory.collection.StreamTree;
import io.varve.memory.collection.stream.GroupRecordLayout;
import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.WorkMemory;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.StreamFacts;
import io.varve.server.rdb.StreamSink;
import org.jspecify.annotations.Nullable;

/**
 * A stream that was read, until it is stored. Confined to its {@link RestoreReader}.
 *
 * <pre>
 *  block:   address 8 | length 8 | ms 8   | seq 8
 *  record:  kind 4    | extra 4  | a 8    | b 8      | c 8     | d 8
 *   group               name's     name     last ms    last seq  read
 *   consumer            length     name     seen       active
 *   pending             consumer   ms       seq        time      deliveries
 * </pre>
 *
 * <p>Records are in the order of the payload: each group, its pending entries, its consumers.
 */
final class StreamResult implements StreamSink {
    private static final int PACKED = 0;
    private static final int NOBODY = -1;
    private static final int MAX_BYTES = Integer.MAX_VALUE / 2 - 1024;

    private static final int BLOCK_BYTES = 4 * Long.BYTES;
    private static final int RECORD_BYTES = 5 * Long.BYTES;
    private static final int EXTRA = Integer.BYTES;
    private static final int A = 8;
    private static final int B = 16;
    private static final int C = 24;
    private static final int D = 32;

    private static final int SCRATCH_BYTES = 128;
    private static final int VALUE = 64;

    private final Item item = new Item();
    private final StreamTree tree = new StreamTree();
    private final WorkMemory blocks = new WorkMemory();
    private final WorkMemory records = new WorkMemory();
    private final ByteBuffer scratchBuffer = ByteBuffer.allocateDirect(SCRATCH_BYTES);
    /** A key, and the value of a record. */
    private final long scratch = MemorySegment.ofBuffer(scratchBuffer).address();
    private @Nullable CommandContext context;
    private @Nullable StreamFacts facts;
    private long blockCount;
    private long recordCount;
    private int groups;
    /** The record of the last group, and how many pending entries and consumers it has. */
    private long group;
    private long pending;
    private int consumers;

    // --- reading

    /** Begins another stream. */
    void begin(CommandContext command) {
        context = command;
        facts = null;
        blockCount = 0;
        recordCount = 0;
        groups = 0;
    }

    /** Memory that is charged to maxmemory. */
    long heldBytes() {
        return blocks.heldBytes() + records.heldBytes();
    }

    void release() {
        blocks.release();
        records.release();
        context = null;
    }

    private CommandContext call() {
        return Objects.requireNonNull(context);
    }

    @Override
    public void block(long ms, long seq, long address, int length, long entries) {
        blocks.require(call().cache(), (blockCount + 1) * BLOCK_BYTES);
        long at = blocks.address() + blockCount++ * BLOCK_BYTES;
        Memory.putLong(at, address);
        Memory.putLong(at + A, length);
        Memory.putLong(at + B, ms);
        Memory.putLong(at + C, seq);
    }

    @Override
    public void facts(StreamFacts numbers) {
        facts = numbers;
    }

    @Override
    public void group(long name, int nameLength, long lastMs, long lastSeq, long read) {
        require(groups++ == 0 || isBehind(group, name, nameLength));
        group = recordCount;
        pending = 0;
        consumers = 0;
        add(GroupRecordLayout.GROUP, nameLength, name, lastMs, lastSeq, read);
    }

    @Override
    public void pending(long ms, long seq, long deliveredMillis, long deliveries) {
        pending++;
        add(GroupRecordLayout.PENDING, NOBODY, ms, seq, deliveredMillis, deliveries);
    }

    @Override
    public void consumer(long name, int nameLength, long seenMillis, long activeMillis) {
        require(consumers++ == 0 || isBehind(recordCount - 1, name, nameLength));
        add(GroupRecordLayout.CONSUMER, nameLength, name, seenMillis, activeMillis, 0);
    }

    @Override
    public void owned(long ms, long seq) {
        long from = group + 1;
        long to = from + pending;
        while (from < to) {
            long middle = from + to >>> 1;
            long at = record(middle);
            long otherMs = Memory.getLong(at + A);
            int order = otherMs == ms
                    ? Long.compareUnsigned(Memory.getLong(at + B), seq)
                    : Long.compareUnsigned(otherMs, ms);
            if (order == 0) {
                require(Memory.getInt(at + EXTRA) == NOBODY);
                Memory.putInt(at + EXTRA, consumers - 1);
                return;
            }
            if (order < 0) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        throw new CorruptPayloadException();
    }

    private static void require(boolean good) {
        if (!good) {
            throw new CorruptPayloadException();
        }
    }

    /** Whether a name is greater than that of a record. */
    private boolean isBehind(long number, long name, int length) {
        long at = record(number);
        return Memory.compare(name, length, Memory.getLong(at + A), Memory.getInt(at + EXTRA)) > 0;
    }

    private long record(long number) {
        return records.address() + number * RECORD_BYTES;
    }

    private void add(int kind, int extra, long a, long b, long c, long d) {
        records.require(call().cache(), (recordCount + 1) * RECORD_BYTES);
        long at = record(recordCount++);
        Memory.putInt(at, kind);
        Memory.putInt(at + EXTRA, extra);
        Memory.putLong(at + A, a);
        Memory.putLong(at + B, b);
        Memory.putLong(at + C, c);
        Memory.putLong(at + D, d);
    }

    // --- writing

    /**
     * Stores the stream under a key and replaces any old value.
     *
     * @throws io.varve.memory.item.CacheFullException if memory is full; the key is then unchanged
     */
    void store(Key key, long expireAtMillis) {
        long bytes = blockCount == 0
                ? StreamMetadataLayout.BYTES
                : StreamMetadataLayout.PACKED_BLOCK + Memory.getLong(blocks.address() + A);
        if (groups == 0 && blockCount <= 1 && bytes <= MAX_BYTES) {
            storePacked(key, (int) bytes, expireAtMillis);
        } else {
            call().session().makeTree(key, item, tree, expireAtMillis, this::fill);
        }
        call().session().changed(key, Change.SET);
    }

    private void storePacked(Key key, int bytes, long expireAtMillis) {
        call().session().put(key, item, ItemType.STREAM, PACKED, bytes, bytes, expireAtMillis);
        long value = item.valueAddress();
        writeFacts(value);
        if (blockCount > 0) {
            long block = blocks.address();
            StreamMetadataLayout.packedId(value, Memory.getLong(block + B), Memory.getLong(block + C));
            Memory.copy(Memory.getLong(block), value + StreamMetadataLayout.PACKED_BLOCK, Memory.getLong(block + A));
        }
    }

    private void writeFacts(long metadata) {
        StreamFacts numbers = Objects.requireNonNull(facts);
        StreamMetadataLayout.length(metadata, numbers.length());
        StreamMetadataLayout.lastId(metadata, numbers.lastMs(), numbers.lastSeq());
        StreamMetadataLayout.firstId(metadata, numbers.firstMs(), numbers.firstSeq());
        StreamMetadataLayout.maxDeletedId(metadata, numbers.deletedMs(), numbers.deletedSeq());
        StreamMetadataLayout.added(metadata, numbers.added());
        StreamMetadataLayout.nextGroup(metadata, groups);
    }

    private void fill() {
        writeFacts(tree.metadata());
        for (long i = 0; i < blockCount; i++) {
            long block = blocks.address() + i * BLOCK_BYTES;
            int length = (int) Memory.getLong(block + A);
            long to = tree.addBlock(Memory.getLong(block + B), Memory.getLong(block + C), length, scratch);
            Memory.copy(Memory.getLong(block), to, length);
        }
        int groupId = NOBODY;
        int consumerId = NOBODY;
        for (long i = 0; i < recordCount; i++) {
            long at = record(i);
            switch (Memory.getInt(at)) {
                case GroupRecordLayout.GROUP -> {
                    consumerId = NOBODY;
                    putGroup(at, ++groupId);
                }
                case GroupRecordLayout.CONSUMER -> putConsumer(at, groupId, ++consumerId);
                default -> putPending(at, groupId);
            }
        }
    }

    private long nameKey(int nameLength) {
        return call().scratch(GroupRecordLayout.BEFORE_NAME_BYTES + nameLength);
    }

    private void putGroup(long at, int id) {
        int nameLength = Memory.getInt(at + EXTRA);
        long key = nameKey(nameLength);
        GroupRecordLayout.groupValue(scratch + VALUE, id, Memory.getLong(at + B), Memory.getLong(at + C),
                Memory.getLong(at + D));
        tree.groups().put(key, GroupRecordLayout.group(key, Memory.getLong(at + A), nameLength), scratch + VALUE,
                GroupRecordLayout.GROUP_BYTES);
    }

    private void putConsumer(long at, int groupId, int id) {
        StreamRecords to = tree.groups();
        long name = Memory.getLong(at + A);
        int nameLength = Memory.getInt(at + EXTRA);
        long key = nameKey(nameLength);
        GroupRecordLayout.consumerValue(scratch + VALUE, id, Memory.getLong(at + B), Memory.getLong(at + C));
        to.put(key, GroupRecordLayout.consumer(key, groupId, name, nameLength), scratch + VALUE,
                GroupRecordLayout.CONSUMER_BYTES);
        to.put(scratch, GroupRecordLayout.name(scratch, groupId, id), name, nameLength);
    }

    private void putPending(long at, int groupId) {
        int consumer = Memory.getInt(at + EXTRA);
        long ms = Memory.getLong(at + A);
        long seq = Memory.getLong(at + B);
        GroupRecordLayout.pendingValue(scratch + VALUE, consumer, Memory.getLong(at + C), Memory.getLong(at + D));
        tree.pending().put(scratch, GroupRecordLayout.pending(scratch, groupId, ms, seq), scratch + VALUE,
                GroupRecordLayout.PENDING_BYTES);
        tree.owned().put(scratch, GroupRecordLayout.owned(scratch, groupId, consumer, ms, seq), scratch + VALUE, 0);
    }
}
