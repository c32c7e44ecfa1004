package io.varve.server.command.stream.group;

import io.varve.memory.collection.stream.BlockCursor;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamReplies;
import io.varve.server.command.stream.StreamValue;
import io.varve.server.command.stream.Streams;
import io.varve.server.events.KeyEvent;
import io.varve.server.resp.ReplyWriter;

/**
 * Delivers entries of one stream to a consumer: new ones, or those that it has not acknowledged. Confined to its event
 * loop; reused from command to command.
 *
 * <p>The group is selected, and the consumer if it exists. First the entries are replied, which changes nothing, and
 * then they are made pending: all or, if memory is refused, none.
 */
final class GroupDelivery {
    /** The most entries whose IDs are kept between reply and delivery. For more, the stream is searched again. */
    private static final int MAX_NOTED = 64;

    private final CommandContext context;
    private final GroupRecords group;
    private boolean noAck;
    private boolean creates;
    private long count;
    /** The first IDs of the last reply, each in two numbers. */
    private final long[] noted = new long[2 * MAX_NOTED];
    /** Whether {@link #noted} has the IDs of all entries of the last reply, and no other stream was selected since. */
    private boolean hasNoted;

    GroupDelivery(CommandContext context, GroupRecords group) {
        this.context = context;
        this.group = group;
    }

    private StreamValue stream() {
        return Streams.of(context).stream();
    }

    /** Called when another stream is selected. */
    void forget() {
        hasNoted = false;
    }

    // --- new entries

    /** Moves the stream's cursor to the first entry that the group has not delivered; false if there is none. */
    boolean seekNew() {
        long ms = group.lastMs();
        long seq = group.lastSeq();
        return (ms & seq) != StreamId.MAX && stream().seek(seq == StreamId.MAX ? ms + 1 : ms, seq + 1);
    }

    /**
     * Replies the entries that the group has not delivered, from the cursor on, if {@link #seekNew} has moved it.
     *
     * @param most the most entries, 0 for all
     * @return their number
     */
    long replyNew(long most) {
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        long replied = 0;
        StreamValue stream = stream();
        boolean more = stream.isAtEntry() || seekNew();
        while (more) {
            BlockCursor entry = stream.entry();
            if (replied < MAX_NOTED) {
                noted[2 * (int) replied] = entry.ms();
                noted[2 * (int) replied + 1] = entry.seq();
            }
            StreamReplies.entry(context, entry);
            replied++;
            more = (most == 0 || replied < most) && stream.next();
        }
        hasNoted = replied <= MAX_NOTED;
        reply.endArray(mark, replied);
        return replied;
    }

    /**
     * Makes replied entries delivered, and records that. Creates the consumer if it does not exist.
     *
     * @param entries their number; 0 only creates the consumer and notes that it was seen
     * @param withoutPending whether they are not to be acknowledged
     */
    void deliver(Key key, long entries, boolean withoutPending) {
        count = entries;
        noAck = withoutPending;
        creates = !group.hasConsumer();
        long writes = (noAck ? 0 : 2 * entries) + (creates ? 2 : 0);
        if (writes == 0) {
            change();
        } else {
            stream().changeRecords((int) Math.min(Integer.MAX_VALUE, writes),
                    GroupRecords.BEYOND_NAME_BYTES + (creates ? group.consumerNameLength() : 0L), this::change);
        }
        if (creates) {
            context.events().emit(KeyEvent.XGROUP_CREATECONSUMER, key);
            context.countChanges(1);
        }
        if (creates || entries > 0) {
            stream().internalsChanged();
            if (context.isRecording()) {
                record(key);
            }
        }
    }

    private void change() {
        long now = context.now();
        if (creates) {
            group.createConsumer(now);
        }
        if (count > 0) {
            advance(now);
        }
        group.touch(now, count > 0 && !noAck ? now : group.activeMillis());
    }

    /** Makes the replied entries pending, which are the first new ones, and moves the group behind them. */
    private void advance(long now) {
        StreamValue stream = stream();
        long ms = group.lastMs();
        long seq = group.lastSeq();
        long read = group.entriesRead();
        boolean areNoted = hasNoted;
        if (!areNoted) {
            seekNew();
        }
        for (int i = 0; i < count; i++) {
            long nextMs = areNoted ? noted[2 * i] : stream.entry().ms();
            long nextSeq = areNoted ? noted[2 * i + 1] : stream.entry().seq();
            read = ReadCounter.after(stream, read, ms, seq, nextMs, nextSeq);
            ms = nextMs;
            seq = nextSeq;
            if (!noAck) {
                group.assign(ms, seq, now, 1);
            }
            if (!areNoted && i < count - 1) {
                stream.next();
            }
        }
        group.advance(ms, seq, read);
    }

    private void record(Key key) {
        if (creates && (noAck || count == 0)) {
            GroupChanges.consumerCreated(context, key, group);
        }
        if (count == 0) {
            return;
        }
        if (!noAck) {
            StreamValue stream = stream();
            stream.seekBack(group.lastMs(), group.lastSeq());
            for (long left = count - 1; left > 0; left--) {
                stream.previous();
            }
            boolean more = true;
            for (long left = count; more && left > 0; left--) {
                GroupChanges.claimed(context, key, group, stream.entry().ms(), stream.entry().seq(), context.now(), 1);
                more = stream.next();
            }
        }
        GroupChanges.advanced(context, key, group);
    }

    // --- the consumer's history

    /**
     * Replies the consumer's pending entries with greater IDs; for a deleted one its ID and null.
     *
     * @param most the most entries, 0 for all
     * @return their number
     */
    long replyPending(StreamId after, long most) {
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        long replied = 0;
        boolean more = group.hasConsumer() && group.seekOwnedAfter(after.ms(), after.seq());
        while (more && (most == 0 || replied < most)) {
            long ms = group.ownedMs();
            long seq = group.ownedSeq();
            if (stream().find(ms, seq)) {
                StreamReplies.entry(context, stream().entry());
            } else {
                reply.array(2);
                StreamReplies.id(context, ms, seq);
                reply.nilArray();
            }
            replied++;
            more = group.nextOwned();
        }
        reply.endArray(mark, replied);
        return replied;
    }

    /** Counts a delivery of the replied pending entries, as far as they exist. It is not recorded, as in Redis. */
    void redeliver(Key key, StreamId after, long entries) {
        deliver(key, 0, false);
        boolean more = entries > 0 && group.seekOwnedAfter(after.ms(), after.seq());
        for (long left = entries; more && left > 0; left--) {
            long ms = group.ownedMs();
            long seq = group.ownedSeq();
            if (stream().find(ms, seq) && group.findPending(ms, seq)) {
                group.redeliver(context.now(), group.deliveries() + 1);
            }
            more = group.nextOwned();
        }
        if (entries > 0) {
            stream().internalsChanged();
        }
    }
}
