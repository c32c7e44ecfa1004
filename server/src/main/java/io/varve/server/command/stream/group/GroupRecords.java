package io.varve.server.command.stream.group;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

import io.varve.memory.collection.StreamRecords;
import io.varve.memory.collection.stream.GroupRecordLayout;
import io.varve.server.command.CommandContext;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamValue;
import org.jspecify.annotations.Nullable;

/**
 * The records of a stream's consumer groups, with one selected group and one selected consumer. Confined to its event
 * loop; reused from command to command.
 *
 * <p>{@link #createGroup}, {@link #createConsumer} and {@link #assign} add records, and are called only within
 * {@link StreamValue#changeRecords}. Other writes are never refused outside of it. Names that are passed must stay
 * valid while they are selected; listed names are valid until the next write.
 */
final class GroupRecords {
    /** No group or consumer has this number. */
    static final int NONE = -1;
    /** The most bytes of a record beyond a name. */
    static final int BEYOND_NAME_BYTES = GroupRecordLayout.MAX_NUMBERS_BYTES + GroupRecordLayout.GROUP_BYTES;

    private static final int VALUE_BYTES = Math.max(GroupRecordLayout.GROUP_BYTES,
            Math.max(GroupRecordLayout.CONSUMER_BYTES, GroupRecordLayout.PENDING_BYTES));

    private final CommandContext context;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(GroupRecordLayout.MAX_NUMBERS_BYTES + VALUE_BYTES);
    /** A key of numbers. */
    private final long key = MemorySegment.ofBuffer(buffer).address();
    private final long value = key + GroupRecordLayout.MAX_NUMBERS_BYTES;
    private @Nullable StreamValue stream;

    private int group = NONE;
    private long groupName;
    private int groupNameLength;
    private long lastMs;
    private long lastSeq;
    private long entriesRead;

    private int consumer = NONE;
    private long consumerName;
    private int consumerNameLength;
    private long seenMillis;
    private long activeMillis;

    private long foundName;
    private int foundNameLength;

    GroupRecords(CommandContext context) {
        this.context = context;
    }

    /** Uses the groups of a stream that was opened. */
    void open(StreamValue of) {
        stream = of;
        group = NONE;
        consumer = NONE;
    }

    private StreamValue stream() {
        return Objects.requireNonNull(stream);
    }

    private StreamRecords records() {
        return stream().records();
    }

    // --- groups

    /** Selects a group; false if it does not exist. */
    boolean selectGroup(long name, int length) {
        group = NONE;
        consumer = NONE;
        groupName = name;
        groupNameLength = length;
        if (!stream().hasRecords() || !findGroup()) {
            return false;
        }
        readGroup();
        return true;
    }

    private boolean findGroup() {
        long at = context.scratch(GroupRecordLayout.BEFORE_NAME_BYTES + groupNameLength);
        return records().find(at, GroupRecordLayout.group(at, groupName, groupNameLength));
    }

    private void readGroup() {
        long at = records().valueAddress();
        group = GroupRecordLayout.groupId(at);
        lastMs = GroupRecordLayout.lastMs(at);
        lastSeq = GroupRecordLayout.lastSeq(at);
        entriesRead = GroupRecordLayout.entriesRead(at);
    }

    /** Selects the first group by name; false if there is none. */
    boolean selectFirstGroup() {
        return stream().hasRecords() && records().seek(key, GroupRecordLayout.group(key, key, 0))
                && selectListedGroup();
    }

    /** Selects the group behind the selected one; false if there is none. */
    boolean selectNextGroup() {
        return findGroup() && records().next() && selectListedGroup();
    }

    private boolean selectListedGroup() {
        long at = records().keyAddress();
        if (GroupRecordLayout.kind(at) != GroupRecordLayout.GROUP) {
            return false;
        }
        consumer = NONE;
        groupName = at + GroupRecordLayout.nameOffset(at);
        groupNameLength = records().keyLength() - GroupRecordLayout.nameOffset(at);
        readGroup();
        return true;
    }

    /** The number of groups. */
    long groupCount() {
        return stream().hasRecords() ? records().rank(key, GroupRecordLayout.consumer(key, 0, key, 0)) : 0;
    }

    long groupName() {
        return groupName;
    }

    int groupNameLength() {
        return groupNameLength;
    }

    /** Milliseconds of the ID that was delivered last. */
    long lastMs() {
        return lastMs;
    }

    long lastSeq() {
        return lastSeq;
    }

    /** The number of entries that the group has read, -1 if unknown. */
    long entriesRead() {
        return entriesRead;
    }

    /** Creates and selects a group. */
    void createGroup(long name, int length, long ms, long seq, long read) {
        int id = stream().newGroupId();
        groupName = name;
        groupNameLength = length;
        GroupRecordLayout.groupValue(value, id, ms, seq, read);
        long at = context.scratch(GroupRecordLayout.BEFORE_NAME_BYTES + length);
        records().put(at, GroupRecordLayout.group(at, name, length), value, GroupRecordLayout.GROUP_BYTES);
        readGroup();
    }

    /** Sets the ID that was delivered last, and the number of entries read. */
    void advance(long ms, long seq, long read) {
        lastMs = ms;
        lastSeq = seq;
        entriesRead = read;
        boolean found = findGroup();
        assert found;
        long at = records().writeValue();
        GroupRecordLayout.lastId(at, ms, seq);
        GroupRecordLayout.entriesRead(at, read);
    }

    /** Removes the selected group with all its consumers and pending entries. */
    void removeGroup() {
        StreamRecords records = records();
        int next = group + 1;
        removeRange(rank(GroupRecordLayout.owned(key, group, 0, 0, 0)),
                rank(GroupRecordLayout.owned(key, next, 0, 0, 0)));
        removeRange(rank(GroupRecordLayout.pending(key, group, 0, 0)),
                rank(GroupRecordLayout.pending(key, next, 0, 0)));
        removeRange(rank(GroupRecordLayout.name(key, group, 0)), rank(GroupRecordLayout.name(key, next, 0)));
        removeRange(rank(GroupRecordLayout.consumer(key, group, key, 0)),
                rank(GroupRecordLayout.consumer(key, next, key, 0)));
        boolean found = findGroup();
        assert found;
        records.remove();
        group = NONE;
    }

    private void removeRange(long from, long to) {
        if (to > from) {
            records().removeRange(from, to);
        }
    }

    /** The number of records in front of the key in {@link #key}. */
    private long rank(int length) {
        return records().rank(key, length);
    }

    // --- consumers of the selected group

    /** Selects a consumer; false if it does not exist: then {@link #createConsumer} may create it. */
    boolean selectConsumer(long name, int length) {
        consumer = NONE;
        consumerName = name;
        consumerNameLength = length;
        if (!findConsumer()) {
            return false;
        }
        readConsumer();
        return true;
    }

    private boolean findConsumer() {
        long at = context.scratch(GroupRecordLayout.BEFORE_NAME_BYTES + consumerNameLength);
        return records().find(at, GroupRecordLayout.consumer(at, group, consumerName, consumerNameLength));
    }

    private void readConsumer() {
        long at = records().valueAddress();
        consumer = GroupRecordLayout.consumerId(at);
        seenMillis = GroupRecordLayout.seenMillis(at);
        activeMillis = GroupRecordLayout.activeMillis(at);
    }

    /** Selects the group's first consumer by name; false if there is none. */
    boolean selectFirstConsumer() {
        return records().seek(key, GroupRecordLayout.consumer(key, group, key, 0)) && selectListedConsumer();
    }

    /** Selects the consumer behind the selected one; false if there is none. */
    boolean selectNextConsumer() {
        return findConsumer() && records().next() && selectListedConsumer();
    }

    private boolean selectListedConsumer() {
        long at = records().keyAddress();
        int length = records().keyLength();
        if (GroupRecordLayout.kind(at) != GroupRecordLayout.CONSUMER
                || GroupRecordLayout.groupOf(at, length) != group) {
            return false;
        }
        consumerName = at + GroupRecordLayout.nameOffset(at);
        consumerNameLength = length - GroupRecordLayout.nameOffset(at);
        readConsumer();
        return true;
    }

    /** The number of consumers. */
    long consumerCount() {
        long before = rank(GroupRecordLayout.consumer(key, group, key, 0));
        return rank(GroupRecordLayout.consumer(key, group + 1, key, 0)) - before;
    }

    /** Whether a consumer is selected. */
    boolean hasConsumer() {
        return consumer != NONE;
    }

    /** The number of the selected consumer, or {@link #NONE}. */
    int consumer() {
        return consumer;
    }

    long consumerName() {
        return consumerName;
    }

    int consumerNameLength() {
        return consumerNameLength;
    }

    long seenMillis() {
        return seenMillis;
    }

    /** When an entry was last delivered to the consumer, -1 for never. */
    long activeMillis() {
        return activeMillis;
    }

    /** Creates the consumer that {@link #selectConsumer} has not found. */
    void createConsumer(long now) {
        consumer = nextConsumer();
        seenMillis = now;
        activeMillis = -1;
        GroupRecordLayout.consumerValue(value, consumer, seenMillis, activeMillis);
        long at = context.scratch(GroupRecordLayout.BEFORE_NAME_BYTES + consumerNameLength);
        records().put(at, GroupRecordLayout.consumer(at, group, consumerName, consumerNameLength), value,
                GroupRecordLayout.CONSUMER_BYTES);
        records().put(key, GroupRecordLayout.name(key, group, consumer), consumerName, consumerNameLength);
    }

    private int nextConsumer() {
        StreamRecords records = records();
        records.seek(key, GroupRecordLayout.name(key, group + 1, 0));
        if (!records.previous()) {
            return 0;
        }
        long last = records.keyAddress();
        int length = records.keyLength();
        return GroupRecordLayout.kind(last) == GroupRecordLayout.NAME
                && GroupRecordLayout.groupOf(last, length) == group
                        ? GroupRecordLayout.consumerOf(last, length) + 1
                        : 0;
    }

    /** Sets the times of the selected consumer. */
    void touch(long seen, long active) {
        seenMillis = seen;
        activeMillis = active;
        boolean found = findConsumer();
        assert found;
        long at = records().writeValue();
        GroupRecordLayout.seenMillis(at, seen);
        GroupRecordLayout.activeMillis(at, active);
    }

    /** Removes the selected consumer with its pending entries. */
    void removeConsumer() {
        StreamRecords records = records();
        while (seekOwned(0, 0)) {
            long ms = pendingMs();
            long seq = pendingSeq();
            records.remove();
            if (findPending(ms, seq)) {
                records.remove();
            }
        }
        if (records.find(key, GroupRecordLayout.name(key, group, consumer))) {
            records.remove();
        }
        if (findConsumer()) {
            records.remove();
        }
        consumer = NONE;
    }

    /** Finds the name of a consumer of the group: see {@link #foundName}. Moves the position. */
    void findName(int of) {
        boolean found = records().find(key, GroupRecordLayout.name(key, group, of));
        assert found;
        foundName = records().valueAddress();
        foundNameLength = records().valueLength();
    }

    /** The name that was found, valid until the next write. */
    long foundName() {
        return foundName;
    }

    int foundNameLength() {
        return foundNameLength;
    }

    // --- pending entries of the selected group

    /** The number of the group's pending entries. */
    long pendingCount() {
        long before = rank(GroupRecordLayout.pending(key, group, 0, 0));
        return rank(GroupRecordLayout.pending(key, group + 1, 0, 0)) - before;
    }

    /** The number of the selected consumer's pending entries. */
    long ownedCount() {
        long before = rank(GroupRecordLayout.owned(key, group, consumer, 0, 0));
        return rank(GroupRecordLayout.owned(key, group, consumer + 1, 0, 0)) - before;
    }

    /** Moves to a pending entry; false if it does not exist. */
    boolean findPending(long ms, long seq) {
        return records().find(key, GroupRecordLayout.pending(key, group, ms, seq));
    }

    /** Moves to the group's first pending entry with at least this ID; false if there is none. */
    boolean seekPending(long ms, long seq) {
        return records().seek(key, GroupRecordLayout.pending(key, group, ms, seq)) && isPending();
    }

    /** Moves to the group's next pending entry; false if there is none. */
    boolean nextPending() {
        return records().next() && isPending();
    }

    /** Moves to the group's first pending entry with a greater ID; false if there is none. */
    boolean seekPendingAfter(long ms, long seq) {
        return (ms & seq) != StreamId.MAX && seekPending(seq == StreamId.MAX ? ms + 1 : ms, seq + 1);
    }

    private boolean isPending() {
        long at = records().keyAddress();
        return GroupRecordLayout.kind(at) == GroupRecordLayout.PENDING
                && GroupRecordLayout.groupOf(at, records().keyLength()) == group;
    }

    /** Moves to the group's last pending entry; there must be one. */
    void seekLastPending() {
        records().seek(key, GroupRecordLayout.pending(key, group + 1, 0, 0));
        boolean found = records().previous();
        assert found && isPending();
    }

    /** Moves to the selected consumer's first pending entry with at least this ID; false if there is none. */
    boolean seekOwned(long ms, long seq) {
        return records().seek(key, GroupRecordLayout.owned(key, group, consumer, ms, seq)) && isOwned();
    }

    /** Moves to the selected consumer's first pending entry with a greater ID; false if there is none. */
    boolean seekOwnedAfter(long ms, long seq) {
        return (ms & seq) != StreamId.MAX && seekOwned(seq == StreamId.MAX ? ms + 1 : ms, seq + 1);
    }

    private boolean isOwned() {
        long at = records().keyAddress();
        int length = records().keyLength();
        return GroupRecordLayout.kind(at) == GroupRecordLayout.OWNED && GroupRecordLayout.groupOf(at, length) == group
                && GroupRecordLayout.consumerOf(at, length) == consumer;
    }

    /** Milliseconds of the ID of the pending entry at the position, of the group or of the consumer. */
    long pendingMs() {
        return GroupRecordLayout.ms(records().keyAddress(), records().keyLength());
    }

    long pendingSeq() {
        return GroupRecordLayout.seq(records().keyAddress(), records().keyLength());
    }

    /** The consumer of the group's pending entry at the position. */
    int pendingConsumer() {
        return GroupRecordLayout.pendingConsumer(records().valueAddress());
    }

    long deliveredMillis() {
        return GroupRecordLayout.deliveredMillis(records().valueAddress());
    }

    long deliveries() {
        return GroupRecordLayout.deliveries(records().valueAddress());
    }

    /** Makes an entry pending for the selected consumer. */
    void assign(long ms, long seq, long delivered, long deliveries) {
        GroupRecordLayout.pendingValue(value, consumer, delivered, deliveries);
        StreamRecords records = records();
        int length = GroupRecordLayout.pending(key, group, ms, seq);
        if (!records.add(key, length, value, GroupRecordLayout.PENDING_BYTES)) {
            int before = pendingConsumer();
            GroupRecordLayout.pendingValue(records.writeValue(), consumer, delivered, deliveries);
            if (before == consumer) {
                return;
            }
            if (records.find(key, GroupRecordLayout.owned(key, group, before, ms, seq))) {
                records.remove();
            }
        }
        records.add(key, GroupRecordLayout.owned(key, group, consumer, ms, seq), value, 0);
    }

    /** Sets the delivery of the group's pending entry at the position. */
    void redeliver(long delivered, long deliveries) {
        int owner = pendingConsumer();
        GroupRecordLayout.pendingValue(records().writeValue(), owner, delivered, deliveries);
    }

    /** Removes a pending entry; false if there is none. */
    boolean acknowledge(long ms, long seq) {
        if (!findPending(ms, seq)) {
            return false;
        }
        int owner = pendingConsumer();
        records().remove();
        if (records().find(key, GroupRecordLayout.owned(key, group, owner, ms, seq))) {
            records().remove();
        }
        return true;
    }
}
