package io.varve.server.command.stream.group;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.stream.StreamCommands;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamReplies;
import io.varve.server.command.stream.StreamValue;
import io.varve.server.command.stream.Streams;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** XACK and XPENDING. Immutable: static handlers. */
final class PendingCommands {
    private static final int GROUP = 2;
    private static final int FIRST_ID = 3;
    private static final int SUMMARY_ARGUMENTS = 3;
    private static final int MIN_RANGE_ARGUMENTS = 6;
    private static final int MIN_IDLE_ARGUMENTS = 8;
    private static final int MAX_ARGUMENTS = 9;
    private static final int REPLY_BYTES = 32;

    private PendingCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(GroupCommands.describe("xack", -4, "Acknowledges entries that were delivered to a consumer").key(1)
                .access("RW update").flags(WRITE, FAST).complexity("O(1) for each ID")
                .handler(PendingCommands::acknowledge));
        table.add(GroupCommands.describe("xpending", -3, "Returns pending entries of a consumer group").key(1)
                .access("RO access").flags(READONLY).tips("nondeterministic_output")
                .complexity(
                        "O(N) with N being the number of entries returned or, with IDLE, examined; O(C) with C being"
                                + " the number of consumers for the summary")
                .handler(PendingCommands::pending));
    }

    private static void acknowledge(CommandContext context) {
        Streams streams = Streams.of(context);
        StreamValue stream = streams.stream();
        Found found = stream.open(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        GroupRecords group = Groups.of(context).records();
        group.open(stream);
        if (found == Found.MISSING
                || !group.selectGroup(context.argumentAddress(GROUP), context.argumentLength(GROUP))) {
            context.reply().integer(0);
            return;
        }
        StreamId id = streams.id();
        for (int i = FIRST_ID; i < context.argumentCount(); i++) {
            if (!id.requireStrictly(context, i, 0)) {
                return;
            }
        }
        context.reply().reserve(REPLY_BYTES);
        long acknowledged = 0;
        for (int i = FIRST_ID; i < context.argumentCount(); i++) {
            // A single ID is parsed already.
            if (context.argumentCount() > FIRST_ID + 1) {
                id.parseStrictly(context.argumentAddress(i), context.argumentLength(i), 0);
            }
            acknowledged += group.acknowledge(id.ms(), id.seq()) ? 1 : 0;
        }
        if (acknowledged > 0) {
            stream.internalsChanged();
            context.countChanges(acknowledged);
        }
        context.reply().integer(acknowledged);
    }

    // --- XPENDING

    private static void pending(CommandContext context) {
        int arguments = context.argumentCount();
        boolean isSummary = arguments == SUMMARY_ARGUMENTS;
        if (!isSummary && (arguments < MIN_RANGE_ARGUMENTS || arguments > MAX_ARGUMENTS)) {
            context.syntaxError();
            return;
        }
        int range = FIRST_ID;
        long minIdle = 0;
        long count = 0;
        if (!isSummary) {
            if (context.argumentIs(range, "IDLE")) {
                if (!context.requireLong(range + 1)) {
                    return;
                }
                minIdle = context.longValue();
                if (arguments < MIN_IDLE_ARGUMENTS) {
                    context.syntaxError();
                    return;
                }
                range += 2;
            }
            if (!context.requireLong(range + 2)) {
                return;
            }
            count = Math.max(0, context.longValue());
            Streams streams = Streams.of(context);
            if (!StreamCommands.bound(context, streams.id(), range, true)
                    || !StreamCommands.bound(context, streams.otherId(), range + 1, false)) {
                return;
            }
        }
        GroupRecords group = openGroup(context);
        if (group == null) {
            return;
        }
        int consumer = range + 3;
        if (isSummary) {
            replySummary(context, group);
        } else if (consumer >= arguments) {
            replyOfGroup(context, group, minIdle, count);
        } else if (group.selectConsumer(context.argumentAddress(consumer), context.argumentLength(consumer))) {
            replyOfConsumer(context, group, minIdle, count);
        } else {
            context.reply().array(0);
        }
    }

    private static @Nullable GroupRecords openGroup(CommandContext context) {
        StreamValue stream = Streams.of(context).stream();
        Found found = stream.open(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return null;
        }
        GroupRecords group = Groups.of(context).records();
        group.open(stream);
        if (found == Found.MISSING
                || !group.selectGroup(context.argumentAddress(GROUP), context.argumentLength(GROUP))) {
            GroupErrors.noKeyOrGroup(context, 1, GROUP, "");
            return null;
        }
        return group;
    }

    private static void replySummary(CommandContext context, GroupRecords group) {
        ReplyWriter reply = context.reply();
        long pending = group.pendingCount();
        reply.array(4);
        reply.integer(pending);
        if (pending == 0) {
            reply.nil();
            reply.nil();
            reply.nilArray();
            return;
        }
        group.seekPending(0, 0);
        StreamReplies.id(context, group.pendingMs(), group.pendingSeq());
        group.seekLastPending();
        StreamReplies.id(context, group.pendingMs(), group.pendingSeq());
        long mark = reply.beginDeferred();
        long consumers = 0;
        for (boolean more = group.selectFirstConsumer(); more; more = group.selectNextConsumer()) {
            long owned = group.ownedCount();
            if (owned > 0) {
                reply.array(2);
                reply.bulk(group.consumerName(), group.consumerNameLength());
                reply.bulkLong(owned);
                consumers++;
            }
        }
        reply.endArray(mark, consumers);
    }

    private static void replyOfGroup(CommandContext context, GroupRecords group, long minIdle, long count) {
        Streams streams = Streams.of(context);
        StreamId last = streams.otherId();
        long mark = context.reply().beginDeferred();
        long replied = 0;
        boolean more = group.seekPending(streams.id().ms(), streams.id().seq());
        while (more && replied < count) {
            long ms = group.pendingMs();
            long seq = group.pendingSeq();
            if (StreamId.compare(ms, seq, last.ms(), last.seq()) > 0) {
                break;
            }
            long delivered = group.deliveredMillis();
            if (minIdle == 0 || context.now() - delivered >= minIdle) {
                long deliveries = group.deliveries();
                group.findName(group.pendingConsumer());
                reply(context, ms, seq, group.foundName(), group.foundNameLength(), delivered, deliveries);
                replied++;
            }
            more = group.nextPending();
        }
        context.reply().endArray(mark, replied);
    }

    private static void replyOfConsumer(CommandContext context, GroupRecords group, long minIdle, long count) {
        Streams streams = Streams.of(context);
        StreamId last = streams.otherId();
        long mark = context.reply().beginDeferred();
        long replied = 0;
        boolean more = group.seekOwned(streams.id().ms(), streams.id().seq());
        while (more && replied < count) {
            long ms = group.ownedMs();
            long seq = group.ownedSeq();
            if (StreamId.compare(ms, seq, last.ms(), last.seq()) > 0) {
                break;
            }
            group.findPending(ms, seq);
            long delivered = group.deliveredMillis();
            if (minIdle == 0 || context.now() - delivered >= minIdle) {
                reply(context, ms, seq, group.consumerName(), group.consumerNameLength(), delivered,
                        group.deliveries());
                replied++;
            }
            more = group.nextOwned();
        }
        context.reply().endArray(mark, replied);
    }

    private static void reply(CommandContext context, long ms, long seq, long name, int nameLength, long delivered,
            long deliveries) {
        ReplyWriter reply = context.reply();
        reply.array(4);
        StreamReplies.id(context, ms, seq);
        reply.bulk(name, nameLength);
        reply.integer(Math.max(0, context.now() - delivered));
        reply.integer(deliveries);
    }
}
