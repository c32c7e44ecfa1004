package io.varve.server.command.stream.group;

import java.util.HashSet;
import java.util.Set;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.stream.StreamCommands;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamReplies;
import io.varve.server.command.stream.StreamValue;
import io.varve.server.command.stream.Streams;
import io.varve.server.command.value.KeyLookup.Found;

import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** XCLAIM and XAUTOCLAIM. Immutable: static handlers. */
final class ClaimCommands {
    private static final int GROUP = 2;
    private static final int CONSUMER = 3;
    private static final int MIN_IDLE = 4;
    private static final int FIRST_ID = 5;
    private static final int START = 5;
    private static final int FIRST_OPTION = 6;
    private static final long DEFAULT_COUNT = 100;
    private static final long MAX_COUNT = Long.MAX_VALUE / 16;
    /** Entries that XAUTOCLAIM examines at most for each one that it may reply. */
    private static final int ATTEMPTS = 10;

    private ClaimCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(GroupCommands.describe("xclaim", -6, "Gives pending entries to a consumer").key(1)
                .access("RW update").flags(WRITE, FAST).tips("nondeterministic_output")
                .traits(CommandTrait.ALL_OR_NOTHING)
                .complexity("O(log N) with N being the number of pending entries of the group")
                .handler(ClaimCommands::claim));
        table.add(GroupCommands.describe("xautoclaim", -6, "Gives pending entries in a range of IDs to a consumer")
                .since("6.2.0").key(1).access("RW delete").flags(WRITE, FAST).tips("nondeterministic_output")
                .traits(CommandTrait.ALL_OR_NOTHING).complexity("O(1) if COUNT is small.")
                .handler(ClaimCommands::claimAutomatically));
    }

    /** Selects the group of the arguments in the open stream, and the consumer if it exists, or replies the error. */
    private static boolean requireGroup(CommandContext context, Found found, GroupRecords group) {
        group.open(Streams.of(context).stream());
        if (found == Found.PRESENT
                && group.selectGroup(context.argumentAddress(GROUP), context.argumentLength(GROUP))) {
            group.selectConsumer(context.argumentAddress(CONSUMER), context.argumentLength(CONSUMER));
            return true;
        }
        GroupErrors.noKeyOrGroup(context, 1, GROUP, "");
        return false;
    }

    private static void release(Groups groups) {
        groups.claimed().release();
        groups.deleted().release();
    }

    // --- XCLAIM

    private static void claim(CommandContext context) {
        Streams streams = Streams.of(context);
        Groups groups = Groups.of(context);
        context.withoutRecord();
        Found found = streams.stream().open(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE || !requireGroup(context, found, groups.records())
                || !context.requireLong(MIN_IDLE, "ERR Invalid min-idle-time argument for XCLAIM")) {
            return;
        }
        long minIdle = Math.max(0, context.longValue());
        int firstOption = FIRST_ID;
        while (firstOption < context.argumentCount() && parseId(context, streams.id(), firstOption)) {
            firstOption++;
        }
        ClaimOptions options = ClaimOptions.parse(context, firstOption, streams.otherId());
        if (options == null) {
            return;
        }
        Claim claim = new Claim(context, groups, options.justId(), options.retryCount(), options.delivered());
        claim.lastId(streams.otherId());
        try {
            collect(context, claim, minIdle, firstOption, options);
            claim.reply();
            claim.run(context.keyAt(0));
        } finally {
            release(groups);
        }
    }

    private static boolean parseId(CommandContext context, StreamId id, int argument) {
        return id.parseStrictly(context.argumentAddress(argument), context.argumentLength(argument), 0);
    }

    /** The ID of an entry. Immutable. */
    private record EntryId(long ms, long seq) {}

    /** Collects the entries that are claimed, and those that exist no more. */
    private static void collect(CommandContext context, Claim claim, long minIdle, int end, ClaimOptions options) {
        StreamValue stream = Streams.of(context).stream();
        StreamId id = Streams.of(context).id();
        GroupRecords group = Groups.of(context).records();
        // An ID may be given twice, and its entry is not idle any more the second time.
        boolean mayRepeat = minIdle > 0 && end > FIRST_ID + 1;
        Set<EntryId> seen = mayRepeat ? new HashSet<>() : Set.of();
        for (int i = FIRST_ID; i < end; i++) {
            parseId(context, id, i);
            boolean isPending = group.findPending(id.ms(), id.seq());
            if (!stream.find(id.ms(), id.seq())) {
                if (isPending) {
                    claim.addDeleted(id.ms(), id.seq());
                }
                continue;
            }
            if (!isPending && !options.force()) {
                continue;
            }
            boolean isRepeated = mayRepeat && seen.contains(new EntryId(id.ms(), id.seq()));
            long delivered = isRepeated ? options.delivered() : isPending ? group.deliveredMillis() : 0;
            if (minIdle > 0 && (isPending || isRepeated) && context.now() - delivered < minIdle) {
                continue;
            }
            claim.add(id.ms(), id.seq());
            if (mayRepeat) {
                seen.add(new EntryId(id.ms(), id.seq()));
            }
        }
    }

    // --- XAUTOCLAIM

    private static void claimAutomatically(CommandContext context) {
        Streams streams = Streams.of(context);
        Groups groups = Groups.of(context);
        context.withoutRecord();
        // As in Redis it counts as a lookup even if an argument is refused.
        context.session().find(context.keyAt(0), context.item());
        if (!context.requireLong(MIN_IDLE, "ERR Invalid min-idle-time argument for XAUTOCLAIM")) {
            return;
        }
        long minIdle = Math.max(0, context.longValue());
        if (!StreamCommands.bound(context, streams.id(), START, true)) {
            return;
        }
        long count = DEFAULT_COUNT;
        boolean justId = false;
        for (int i = FIRST_OPTION; i < context.argumentCount(); i++) {
            if (i + 1 < context.argumentCount() && context.argumentIs(i, "COUNT")) {
                i++;
                if (!context.isLong(i) || context.longValue() < 1 || context.longValue() > MAX_COUNT) {
                    context.reply().error("ERR COUNT must be > 0");
                    return;
                }
                count = context.longValue();
            } else if (context.argumentIs(i, "JUSTID")) {
                justId = true;
            } else {
                context.syntaxError();
                return;
            }
        }
        Found found = streams.stream().lookUp(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            context.wrongType();
            return;
        }
        if (!requireGroup(context, found, groups.records())) {
            return;
        }
        Claim claim = new Claim(context, groups, justId, -1, context.now());
        try {
            collect(context, claim, minIdle, count);
            context.reply().array(3);
            StreamReplies.id(context, streams.id().ms(), streams.id().seq());
            claim.reply();
            claim.replyDeleted();
            claim.run(context.keyAt(0));
        } finally {
            release(groups);
        }
    }

    /** Collects the entries from an ID on, which it sets to that of the next pending entry, or to 0-0. */
    private static void collect(CommandContext context, Claim claim, long minIdle, long count) {
        StreamValue stream = Streams.of(context).stream();
        StreamId id = Streams.of(context).id();
        GroupRecords group = Groups.of(context).records();
        long attempts = count * ATTEMPTS;
        long left = count;
        boolean more = group.seekPending(id.ms(), id.seq());
        while (more && attempts > 0 && left > 0) {
            attempts--;
            id.set(group.pendingMs(), group.pendingSeq());
            if (!stream.find(id.ms(), id.seq())) {
                claim.addDeleted(id.ms(), id.seq());
                left--;
            } else if (minIdle == 0 || context.now() - group.deliveredMillis() >= minIdle) {
                claim.add(id.ms(), id.seq());
                left--;
            }
            more = group.nextPending();
        }
        if (more) {
            id.set(group.pendingMs(), group.pendingSeq());
        } else {
            id.set(0, 0);
        }
    }
}
