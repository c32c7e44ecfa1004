package io.varve.server.command.set;

import java.util.concurrent.ThreadLocalRandom;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.RandomRanks;
import io.varve.server.command.value.ScanCursor;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.RecordedCommand;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.set.SetCommands.set;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** Commands that reply many members of a set: all, some, or random ones. Immutable: static handlers. */
final class SetWalkCommands {
    private static final String NOT_POSITIVE = "ERR value is out of range, must be positive";

    private SetWalkCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(set("smembers", 2, "1.0.0", "Returns all members of a set").key(1).access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY).tips("nondeterministic_output_order")
                .complexity("O(N) where N is the number of members")
                .handler(SetWalkCommands::members));
        table.add(set("sscan", -3, "2.8.0", "Iterates over the members of a set").key(1)
                .access("RO access").flags(READONLY).tips("nondeterministic_output").complexity("O(1) for each call")
                .handler(SetWalkCommands::scan));
        table.add(set("srandmember", -2, "1.0.0", "Returns random members of a set").key(1)
                .access("RO access").flags(READONLY).tips("nondeterministic_output")
                .complexity("O(N) where N is the number of members returned")
                .handler(SetWalkCommands::randmember));
        table.add(set("spop", -2, "1.0.0", "Removes and returns random members of a set").key(1)
                .access("RW access delete").flags(WRITE, FAST).tips("nondeterministic_output")
                .complexity("O(N) where N is the number of members returned").handler(SetWalkCommands::pop));
    }

    private static void members(CommandContext context) {
        SetValue set = Sets.of(context).first();
        if (set.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            ReplyWriter reply = context.reply();
            reply.set(set.size());
            replyAll(reply, set);
        }
    }

    private static void replyAll(ReplyWriter reply, SetValue set) {
        for (boolean more = set.first(); more; more = set.next()) {
            set.replyMember(reply);
        }
    }

    private static void scan(CommandContext context) {
        ScanCursor cursor = ScanCursor.read(context, 2);
        if (cursor == null) {
            return;
        }
        SetValue set = Sets.of(context).first();
        Found found = set.open(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE || found == Found.PRESENT && !cursor.readOptions(context, 3, false)) {
            return;
        }
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        Matches matches = new Matches(context, cursor);
        long next = found == Found.PRESENT ? set.scan(cursor.position(), cursor.count(), matches) : 0;
        reply.endScan(mark, next, matches.count);
    }

    /** Replies the members that match the pattern of SSCAN. Confined to one command. */
    private static final class Matches implements MemberSink {
        private final CommandContext context;
        private final ScanCursor cursor;
        private long count;

        Matches(CommandContext context, ScanCursor cursor) {
            this.context = context;
            this.cursor = cursor;
        }

        @Override
        public boolean take(SetView set) {
            if (cursor.matches(context, set.memberAddress(), set.memberLength())) {
                set.replyMember(context.reply());
                count++;
            }
            return true;
        }
    }

    // --- random members

    private static void randmember(CommandContext context) {
        boolean counted = context.argumentCount() > 2;
        if (context.argumentCount() > 3) {
            context.syntaxError();
            return;
        }
        if (counted && !context.requireNegatableLong(2)) {
            return;
        }
        long count = counted ? context.longValue() : 1;
        SetValue set = Sets.of(context).first();
        Found found = set.open(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        ReplyWriter reply = context.reply();
        if (!counted) {
            replyAny(reply, set);
        } else if (found == Found.MISSING || count == 0) {
            reply.array(0);
        } else if (count < -RandomRanks.MAX_PICKS) {
            reply.error(Errors.OUT_OF_RANGE);
        } else if (count < 0) {
            reply.array(-count);
            RandomRanks.forEachPick(set, -count, () -> set.replyMember(reply));
        } else {
            long answered = Math.min(count, set.size());
            reply.array(answered);
            RandomRanks.forEach(set.size(), answered, rank -> {
                set.seek(rank);
                set.replyMember(reply);
            });
        }
    }

    private static void replyAny(ReplyWriter reply, SetValue set) {
        if (set.size() == 0) {
            reply.nil();
        } else {
            set.seek(ThreadLocalRandom.current().nextLong(set.size()));
            set.replyMember(reply);
        }
    }

    // --- SPOP

    private static void pop(CommandContext context) {
        boolean counted = context.argumentCount() > 2;
        if (context.argumentCount() > 3) {
            context.syntaxError();
            return;
        }
        if (counted && (!context.requireLong(2, NOT_POSITIVE) || isNegative(context))) {
            return;
        }
        long count = counted ? context.longValue() : 1;
        SetValue set = Sets.of(context).first();
        if (set.openForWriting(context, context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long popped = Math.min(count, set.size());
        if (counted) {
            context.reply().set(popped);
        } else if (popped == 0) {
            context.reply().nil();
        }
        if (popped > 0) {
            // As in Redis, only SPOP with a count is recorded as DEL if it removes the whole set.
            boolean recordsMembers = context.isRecording() && (!counted || popped < set.size());
            if (recordsMembers) {
                context.record(RecordedCommand.SREM, context.keyAt(0), (int) popped + 2);
            }
            set.pop(context.reply(), popped, ThreadLocalRandom.current().nextLong(), recordsMembers);
            context.events().emitRemoval(KeyEvent.SPOP, context.keyAt(0), set.size() == 0);
            context.countChanges(popped);
            if (recordsMembers) {
                context.endRecord();
            } else {
                context.recordDeletion(context.keyAt(0));
            }
        }
    }

    private static boolean isNegative(CommandContext context) {
        if (context.longValue() < 0) {
            context.reply().error(NOT_POSITIVE);
            return true;
        }
        return false;
    }
}
