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

    private StreamRecords groups() {
        return stream().tree().groups();
    }

    private StreamRecords pending() {
        return stream().tree().pending();
    }

    private StreamRecords owned() {
        return stream().tree().owned();
    }

    // --- groups

    /** Selects a group; false if it does not exist. */
    boolean selectGroup(long name, int length) {
        group = NONE;
        consumer = NONE;
        groupName = name;
        groupNameLength = length;
        if (!stream().hasGroups() || !findGroup()) {
            return false;
        }
        readGroup();
        return true;
    }

    private boolean findGroup() {
        long at = context.scratch(GroupRecordLayout.BEFORE_NAME_BYTES + groupNameLength);
        return groups().find(at, GroupRecordLayout.group(at, groupName, groupNameLength));
    }

    private void readGroup() {
        long at = groups().valueAddress();
        group = GroupRecordLayout.groupId(at);
        lastMs = GroupRecordLayout.lastMs(at);
        lastSeq = GroupRecordLayout.lastSeq(at);
        entriesRead = GroupRecordLayout.entriesRead(at);
    }

    /** Selects the first group by name; false if there is none. */
    boolean selectFirstGroup() {
        return stream().hasGroups() && groups().seek(key, GroupRecordLayout.group(key, key, 0))
                && selectListedGroup();
    }

    /** Selects the group behind the selected one; false if there is none. */
    boolean selectNextGroup() {
        return findGroup() && groups().next() && selectListedGroup();
    }

    private boolean selectListedGroup() {
        long at = groups().keyAddress();
        if (GroupRecordLayout.kind(at) != GroupRecordLayout.GROUP) {
            return false;
        }
        consumer = NONE;
        groupName = at + GroupRecordLayout.nameOffset(at);
        groupNameLength = groups().keyLength() - GroupRecordLayout.nameOffset(at);
        readGroup();
        return true;
    }

    /** The number of groups. */
    long groupCount() {
        return stream().hasGroups() ? groups().rank(key, GroupRecordLayout.consumer(key, 0, key, 0)) : 0;
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
        groups().put(at, GroupRecordLayout.group(at, name, length), value, GroupRecordLayout.GROUP_BYTES);
        readGroup();
    }

    /** Sets the ID that was delivered last, and the number of entries read. */
    void advance(long ms, long seq, long read) {
        lastMs = ms;
        lastSeq = seq;
        entriesRead = read;
        boolean found = findGroup();
        assert found;
        long at = groups().writeValue();
        GroupRecordLayout.lastId(at, ms, seq);
        GroupRecordLayout.entriesRead(at, read);
    }

    /** Removes the selected group with all its consumers and pending entries. */
    void removeGroup() {
        int next = group + 1;
        StreamRecords owned = owned();
        removeRange(owned, rank(owned, GroupRecordLayout.owned(key, group, 0, 0, 0)),
                rank(owned, GroupRecordLayout.owned(key, next, 0, 0, 0)));
        StreamRecords pending = pending();
        removeRange(pending, rank(pending, GroupRecordLayout.pending(key, group, 0, 0)),
                rank(pending, GroupRecordLayout.pending(key, next, 0, 0)));
        StreamRecords groups = groups();
        removeRange(groups, rank(groups, GroupRecordLayout.name(key, group, 0)),
                rank(groups, GroupRecordLayout.name(key, next, 0)));
        removeRange(groups, rank(groups, GroupRecordLayout.consumer(key, group, key, 0)),
                rank(groups, GroupRecordLayout.consumer(key, next, key, 0)));
        boolean found = findGroup();
        assert found;
        groups.remove();
        group = NONE;
    }

    private static void removeRange(StreamRecords records, long from, long to) {
        if (to > from) {
            records.removeRange(from, to);
        }
    }

    /** The number of records in front of the key in {@link #key}. */
    private long rank(StreamRecords records, int length) {
        return records.rank(key, length);
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
        return groups().find(at, GroupRecordLayout.consumer(at, group, consumerName, consumerNameLength));
    }

    private void readConsumer() {
        long at = groups().valueAddress();
        consumer = GroupRecordLayout.consumerId(at);
        seenMillis = GroupRecordLayout.seenMillis(at);
        activeMillis = GroupRecordLayout.activeMillis(at);
    }

    /** Selects the group's first consumer by name; false if there is none. */
    boolean selectFirstConsumer() {
        return groups().seek(key, GroupRecordLayout.consumer(key, group, key, 0)) && selectListedConsumer();
    }

    /** Selects the consumer behind the selected one; false if there is none. */
    boolean selectNextConsumer() {
        return findConsumer() && groups().next() && selectListedConsumer();
    }

    private boolean selectListedConsumer() {
        long at = groups().keyAddress();
        int length = groups().keyLength();
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
        long before = rank(groups(), GroupRecordLayout.consumer(key, group, key, 0));
        return rank(groups(), GroupRecordLayout.consumer(key, group + 1, key, 0)) - before;
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
        groups().put(at, GroupRecordLayout.consumer(at, group, consumerName, consumerNameLength), value,
                GroupRecordLayout.CONSUMER_BYTES);
        groups().put(key, GroupRecordLayout.name(key, group, consumer), consumerName, consumerNameLength);
    }

    private int nextConsumer() {
        StreamRecords groups = groups();
        groups.seek(key, GroupRecordLayout.name(key, group + 1, 0));
        if (!groups.previous()) {
            return 0;
        }
        long last = groups.keyAddress();
        int length = groups.keyLength();
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
        long at = groups().writeValue();
        GroupRecordLayout.seenMillis(at, seen);
        GroupRecordLayout.activeMillis(at, active);
    }

    /** Removes the selected consumer with its pending entries. */
    void removeConsumer() {
        while (seekOwned(0, 0)) {
            long ms = ownedMs();
            long seq = ownedSeq();
            owned().remove();
            if (findPending(ms, seq)) {
                pending().remove();
            }
        }
        StreamRecords groups = groups();
        if (groups.find(key, GroupRecordLayout.name(key, group, consumer))) {
            groups.remove();
        }
        if (findConsumer()) {
            groups.remove();
        }
        consumer = NONE;
    }

    /** Finds the name of a consumer of the group: see {@link #foundName}. */
    void findName(int of) {
        boolean found = groups().find(key, GroupRecordLayout.name(key, group, of));
        assert found;
        foundName = groups().valueAddress();
        foundNameLength = groups().valueLength();
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
        long before = rank(pending(), GroupRecordLayout.pending(key, group, 0, 0));
        return rank(pending(), GroupRecordLayout.pending(key, group + 1, 0, 0)) - before;
    }

    /** The number of the selected consumer's pending entries. */
    long ownedCount() {
        long before = rank(owned(), GroupRecordLayout.owned(key, group, consumer, 0, 0));
        return rank(owned(), GroupRecordLayout.owned(key, group, consumer + 1, 0, 0)) - before;
    }

    /** Moves to a pending entry; false if it does not exist. */
    boolean findPending(long ms, long seq) {
        return pending().find(key, GroupRecordLayout.pending(key, group, ms, seq));
    }

    /** Moves to the group's first pending entry with at least this ID; false if there is none. */
    boolean seekPending(long ms, long seq) {
        return pending().seek(key, GroupRecordLayout.pending(key, group, ms, seq)) && isPending();
    }

    /** Moves to the group's next pending entry; false if there is none. */
    boolean nextPending() {
        return pending().next() && isPending();
    }

    /** Moves to the group's first pending entry with a greater ID; false if there is none. */
    boolean seekPendingAfter(long ms, long seq) {
        return (ms & seq) != StreamId.MAX && seekPending(seq == StreamId.MAX ? ms + 1 : ms, seq + 1);
    }

    private boolean isPending() {
        long at = pending().keyAddress();
        return GroupRecordLayout.kind(at) == GroupRecordLayout.PENDING
                && GroupRecordLayout.groupOf(at, pending().keyLength()) == group;
    }

    /** Moves to the group's last pending entry; there must be one. */
    void seekLastPending() {
        pending().seek(key, GroupRecordLayout.pending(key, group + 1, 0, 0));
        boolean found = pending().previous();
        assert found && isPending();
    }

    /** Moves to the selected consumer's first pending entry with at least this ID; false if there is none. */
    boolean seekOwned(long ms, long seq) {
        return owned().seek(key, GroupRecordLayout.owned(key, group, consumer, ms, seq)) && isOwned();
    }

    /** Moves to the selected consumer's first pending entry with a greater ID; false if there is none. */
    boolean seekOwnedAfter(long ms, long seq) {
        return (ms & seq) != StreamId.MAX && seekOwned(seq == StreamId.MAX ? ms + 1 : ms, seq + 1);
    }

    /** Moves to the selected consumer's next pending entry; false if there is none. */
    boolean nextOwned() {
        return owned().next() && isOwned();
    }

    private boolean isOwned() {
        long at = owned().keyAddress();
        int length = owned().keyLength();
        return GroupRecordLayout.kind(at) == GroupRecordLayout.OWNED && GroupRecordLayout.groupOf(at, length) == group
                && GroupRecordLayout.consumerOf(at, length) == consumer;
    }

    /** Milliseconds of the ID of the group's pending entry at the position. */
    long pendingMs() {
        return GroupRecordLayout.ms(pending().keyAddress(), pending().keyLength());
    }

    long pendingSeq() {
        return GroupRecordLayout.seq(pending().keyAddress(), pending().keyLength());
    }

    /** Milliseconds of the ID of the consumer's pending entry at the position. */
    long ownedMs() {
        return GroupRecordLayout.ms(owned().keyAddress(), owned().keyLength());
    }

    long ownedSeq() {
        return GroupRecordLayout.seq(owned().keyAddress(), owned().keyLength());
    }

    /** The consumer of the group's pending entry at the position. */
    int pendingConsumer() {
        return GroupRecordLayout.pendingConsumer(pending().valueAddress());
    }

    long deliveredMillis() {
        return GroupRecordLayout.deliveredMillis(pending().valueAddress());
    }

    long deliveries() {
        return GroupRecordLayout.deliveries(pending().valueAddress());
    }

    /** Makes an entry pending for the selected consumer. */
    void assign(long ms, long seq, long delivered, long deliveries) {
        GroupRecordLayout.pendingValue(value, consumer, delivered, deliveries);
        StreamRecords pending = pending();
        int length = GroupRecordLayout.pending(key, group, ms, seq);
        if (!pending.add(key, length, value, GroupRecordLayout.PENDING_BYTES)) {
            int before = pendingConsumer();
            GroupRecordLayout.pendingValue(pending.writeValue(), consumer, delivered, deliveries);
            if (before == consumer) {
                return;
            }
            if (owned().find(key, GroupRecordLayout.owned(key, group, before, ms, seq))) {
                owned().remove();
            }
        }
        owned().add(key, GroupRecordLayout.owned(key, group, consumer, ms, seq), value, 0);
    }

    /** Sets the delivery of the group's pending entry at the position. */
    void redeliver(long delivered, long deliveries) {
        int owner = pendingConsumer();
        GroupRecordLayout.pendingValue(pending().writeValue(), owner, delivered, deliveries);
    }

    /** Removes a pending entry; false if there is none. */
    boolean acknowledge(long ms, long seq) {
        if (!findPending(ms, seq)) {
            return false;
        }
        int owner = pendingConsumer();
        pending().remove();
        if (owned().find(key, GroupRecordLayout.owned(key, group, owner, ms, seq))) {
            owned().remove();
        }
        return true;
    }
}
