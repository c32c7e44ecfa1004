package io.varve.server.command.stream.group;

import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamReplies;
import io.varve.server.command.stream.StreamValue;
import io.varve.server.command.stream.Streams;
import io.varve.server.events.KeyEvent;

/**
 * The entries that XCLAIM or XAUTOCLAIM gives to a consumer, and the pending entries that it has found deleted.
 * Confined to its event loop; used by one command.
 *
 * <p>The command collects them, replies, and then calls {@link #run}, which makes all changes or none.
 */
final class Claim {
    private static final long NOT_GIVEN = -1;

    private final CommandContext context;
    private final GroupRecords group;
    private final StreamValue stream;
    private final EntryIds claimed;
    private final EntryIds deleted;
    private final boolean justId;
    private final long retryCount;
    /** The time of delivery that the entries get, ms. */
    private final long delivered;
    private long lastMs;
    private long lastSeq;
    private boolean creates;
    private boolean advances;
    private long removed;

    /**
     * @param groups has the selected group, and lists that the caller releases
     * @param retryCount the number of deliveries that the entries get; negative: one more, or as it is with JUSTID
     */
    Claim(CommandContext context, Groups groups, boolean justId, long retryCount, long delivered) {
        this.context = context;
        this.justId = justId;
        this.retryCount = retryCount;
        this.delivered = delivered;
        group = groups.records();
        stream = Streams.of(context).stream();
        claimed = groups.claimed();
        deleted = groups.deleted();
    }

    /** Advances the group's last ID to this one, if it is greater. */
    void lastId(StreamId id) {
        lastMs = id.ms();
        lastSeq = id.seq();
        advances = id.isAfter(group.lastMs(), group.lastSeq());
    }

    /** Adds an entry that exists. */
    void add(long ms, long seq) {
        claimed.add(ms, seq);
    }

    /** Adds a pending entry that was deleted. */
    void addDeleted(long ms, long seq) {
        deleted.add(ms, seq);
    }

    /** Replies the array of claimed entries. */
    void reply() {
        context.reply().array(claimed.size());
        for (int i = 0; i < claimed.size(); i++) {
            if (justId) {
                StreamReplies.id(context, claimed.ms(i), claimed.seq(i));
            } else {
                stream.find(claimed.ms(i), claimed.seq(i));
                StreamReplies.entry(context, stream.entry());
            }
        }
    }

    /** Replies the array of deleted entries. */
    void replyDeleted() {
        context.reply().array(deleted.size());
        for (int i = 0; i < deleted.size(); i++) {
            StreamReplies.id(context, deleted.ms(i), deleted.seq(i));
        }
    }

    /** Makes the changes, and records them. The reply is written. */
    void run(Key key) {
        creates = !group.hasConsumer();
        int writes = 2 * claimed.size() + (creates ? 2 : 0);
        if (writes == 0) {
            change();
        } else {
            stream.changeRecords(writes, GroupRecords.BEYOND_NAME_BYTES + (creates ? group.consumerNameLength() : 0L),
                    this::change);
        }
        long changes = claimed.size() + removed + (creates ? 1 : 0);
        if (changes == 0 && advances) {
            changes = 1;
        }
        if (changes > 0) {
            stream.internalsChanged();
            context.countChanges(changes);
        }
        if (creates) {
            context.events().emit(KeyEvent.XGROUP_CREATECONSUMER, key);
        }
        if (context.isRecording()) {
            record(key);
        }
    }

    private void change() {
        long now = context.now();
        if (creates) {
            group.createConsumer(now);
        }
        if (advances) {
            group.advance(lastMs, lastSeq, group.entriesRead());
        }
        for (int i = 0; i < claimed.size(); i++) {
            long ms = claimed.ms(i);
            long seq = claimed.seq(i);
            long deliveries = group.findPending(ms, seq) ? group.deliveries() : 1;
            group.assign(ms, seq, delivered,
                    retryCount > NOT_GIVEN ? retryCount : justId ? deliveries : deliveries + 1);
        }
        removed = 0;
        for (int i = 0; i < deleted.size(); i++) {
            removed += group.acknowledge(deleted.ms(i), deleted.seq(i)) ? 1 : 0;
        }
        group.touch(now, claimed.size() > 0 ? now : group.activeMillis());
    }

    private void record(Key key) {
        if (creates && claimed.size() == 0) {
            GroupChanges.consumerCreated(context, key, group);
        }
        for (int i = 0; i < deleted.size(); i++) {
            GroupChanges.acknowledged(context, key, group, deleted.ms(i), deleted.seq(i));
        }
        for (int i = 0; i < claimed.size(); i++) {
            long ms = claimed.ms(i);
            long seq = claimed.seq(i);
            group.findPending(ms, seq);
            GroupChanges.claimed(context, key, group, ms, seq, group.deliveredMillis(), group.deliveries());
        }
        if (advances && claimed.size() == 0) {
            GroupChanges.advanced(context, key, group);
        }
    }
}
