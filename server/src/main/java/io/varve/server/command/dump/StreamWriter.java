package io.varve.server.command.dump;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.memory.collection.StreamRecords;
import io.varve.memory.collection.StreamTree;
import io.varve.memory.collection.stream.GroupRecordLayout;
import io.varve.memory.collection.stream.Listpack;
import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.rdb.PayloadWriter;

/**
 * Writes streams in Redis's serialization. Confined to its event loop, or to a thread that saves; reused from stream to
 * stream.
 */
final class StreamWriter {
    private static final CommandScratch<StreamWriter> SCRATCH = CommandScratch.madeBy(_ -> new StreamWriter());

    private final StreamTree tree = new StreamTree();
    private final ByteBuffer keyBuffer = ByteBuffer.allocateDirect(GroupRecordLayout.MAX_NUMBERS_BYTES);
    private final long key = MemorySegment.ofBuffer(keyBuffer).address();

    private StreamWriter() {}

    /** The instance of a context. */
    static StreamWriter of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /** Writes the stream under a key. The lookup counts as a hit. */
    void write(CommandContext command, Key at, Item item, PayloadWriter writer) {
        command.session().find(at, item);
        if (!item.isTree()) {
            writePacked(item, writer);
            return;
        }
        command.session().open(at, item, tree);
        writer.stream(tree.size());
        for (boolean more = tree.first(); more; more = tree.next()) {
            writeBlock(tree.blockMs(), tree.blockSeq(), tree.blockAddress(), writer);
        }
        writeFacts(tree.metadata(), writer);
        writeGroups(writer);
    }

    private static void writePacked(Item item, PayloadWriter writer) {
        long value = item.valueAddress();
        boolean hasBlock = item.valueLength() > StreamMetadataLayout.BYTES;
        writer.stream(hasBlock ? 1 : 0);
        if (hasBlock) {
            writeBlock(StreamMetadataLayout.packedMs(value), StreamMetadataLayout.packedSeq(value),
                    value + StreamMetadataLayout.PACKED_BLOCK, writer);
        }
        writeFacts(value, writer);
        writer.number(0);
    }

    private static void writeBlock(long ms, long seq, long block, PayloadWriter writer) {
        writer.blockId(ms, seq);
        writer.text(block, Listpack.bytes(block));
    }

    private static void writeFacts(long metadata, PayloadWriter writer) {
        writer.number(StreamMetadataLayout.length(metadata));
        writer.number(StreamMetadataLayout.lastMs(metadata));
        writer.number(StreamMetadataLayout.lastSeq(metadata));
        writer.number(StreamMetadataLayout.firstMs(metadata));
        writer.number(StreamMetadataLayout.firstSeq(metadata));
        writer.number(StreamMetadataLayout.maxDeletedMs(metadata));
        writer.number(StreamMetadataLayout.maxDeletedSeq(metadata));
        writer.number(StreamMetadataLayout.added(metadata));
    }

    // --- groups

    private void writeGroups(PayloadWriter writer) {
        StreamRecords groups = tree.groups();
        writer.number(groups.rank(key, GroupRecordLayout.consumer(key, 0, key, 0)));
        boolean more = groups.seek(key, GroupRecordLayout.group(key, key, 0));
        while (more && GroupRecordLayout.kind(groups.keyAddress()) == GroupRecordLayout.GROUP) {
            long name = groups.keyAddress();
            int length = groups.keyLength();
            int group = GroupRecordLayout.groupId(groups.valueAddress());
            writeName(groups, writer);
            writer.number(GroupRecordLayout.lastMs(groups.valueAddress()));
            writer.number(GroupRecordLayout.lastSeq(groups.valueAddress()));
            writer.number(GroupRecordLayout.entriesRead(groups.valueAddress()));
            writePending(group, writer);
            writeConsumers(group, writer);
            groups.find(name, length);
            more = groups.next();
        }
    }

    /** Writes the name in the key of the record. */
    private static void writeName(StreamRecords records, PayloadWriter writer) {
        long name = records.keyAddress();
        int offset = GroupRecordLayout.nameOffset(name);
        writer.text(name + offset, records.keyLength() - offset);
    }

    private void writePending(int group, PayloadWriter writer) {
        StreamRecords records = tree.pending();
        long after = records.rank(key, GroupRecordLayout.pending(key, group + 1, 0, 0));
        int first = GroupRecordLayout.pending(key, group, 0, 0);
        long count = after - records.rank(key, first);
        writer.number(count);
        records.seek(key, first);
        for (long left = count; left > 0; left--) {
            writeId(records, writer);
            writer.millis(GroupRecordLayout.deliveredMillis(records.valueAddress()));
            writer.number(GroupRecordLayout.deliveries(records.valueAddress()));
            records.next();
        }
    }

    private static void writeId(StreamRecords records, PayloadWriter writer) {
        long at = records.keyAddress();
        int length = records.keyLength();
        writer.id(GroupRecordLayout.ms(at, length), GroupRecordLayout.seq(at, length));
    }

    private void writeConsumers(int group, PayloadWriter writer) {
        StreamRecords records = tree.groups();
        long after = records.rank(key, GroupRecordLayout.consumer(key, group + 1, key, 0));
        int first = GroupRecordLayout.consumer(key, group, key, 0);
        long count = after - records.rank(key, first);
        writer.number(count);
        records.seek(key, first);
        for (long left = count; left > 0; left--) {
            writeName(records, writer);
            writer.millis(GroupRecordLayout.seenMillis(records.valueAddress()));
            writeOwned(group, GroupRecordLayout.consumerId(records.valueAddress()), writer);
            records.next();
        }
    }

    private void writeOwned(int group, int consumer, PayloadWriter writer) {
        StreamRecords records = tree.owned();
        long after = records.rank(key, GroupRecordLayout.owned(key, group, consumer + 1, 0, 0));
        int first = GroupRecordLayout.owned(key, group, consumer, 0, 0);
        long count = after - records.rank(key, first);
        writer.number(count);
        records.seek(key, first);
        for (long left = count; left > 0; left--) {
            writeId(records, writer);
            records.next();
        }
    }
}
