package io.varve.server.command.set;

import java.util.concurrent.ThreadLocalRandom;

import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.RandomRanks;
import io.varve.server.command.value.ScanCursor;
import io.varve.server.events.KeyEvent;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.set.SetCommands.set;

/** Commands that answer many members of a set, all, some, or random ones. Immutable: static handlers. */
final class SetWalkCommands {
    private static final String NOT_POSITIVE = "ERR value is out of range, must be positive";

    private SetWalkCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(set("smembers", 2, "1.0.0", "Answers all members of a set").key(1).access("RO access")
                .flags(READONLY).tips("nondeterministic_output_order").complexity("O(N) in the members")
                .handler(SetWalkCommands::members));
        table.add(set("sscan", -3, "2.8.0", "Walks over the members of a set, some at a time").key(1)
                .access("RO access").flags(READONLY).tips("nondeterministic_output").complexity("O(1) a call")
                .handler(SetWalkCommands::scan));
        table.add(set("srandmember", -2, "1.0.0", "Answers members of a set picked at random").key(1)
                .access("RO access").flags(READONLY).tips("nondeterministic_output").complexity("O(N) in the answer")
                .handler(SetWalkCommands::randmember));
        table.add(set("spop", -2, "1.0.0", "Removes and answers members of a set picked at random").key(1)
                .access("RW access delete").flags(WRITE, FAST).tips("nondeterministic_output")
                .complexity("O(N) in the answer").handler(SetWalkCommands::pop));
    }

    private static void members(Invocation call) {
        SetValue set = Sets.of(call).first();
        if (set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            ReplyWriter reply = call.reply();
            reply.set(set.size());
            replyAll(reply, set);
        }
    }

    private static void replyAll(ReplyWriter reply, SetValue set) {
        for (boolean more = set.first(); more; more = set.next()) {
            set.replyMember(reply);
        }
    }

    private static void scan(Invocation call) {
        ScanCursor cursor = ScanCursor.read(call, 2);
        if (cursor == null) {
            return;
        }
        SetValue set = Sets.of(call).first();
        Found found = set.open(call, call.keyAt(0));
        if (found == Found.WRONG_TYPE || found == Found.PRESENT && !cursor.readOptions(call, 3, false)) {
            return;
        }
        ReplyWriter reply = call.reply();
        long mark = reply.beginDeferred();
        Matches matches = new Matches(call, cursor);
        long next = found == Found.PRESENT ? set.scan(cursor.position(), cursor.count(), matches) : 0;
        reply.endScan(mark, next, matches.count);
    }

    /** Replies the members that match the pattern of SSCAN. Confined to one command. */
    private static final class Matches implements MemberSink {
        private final Invocation call;
        private final ScanCursor cursor;
        private long count;

        Matches(Invocation call, ScanCursor cursor) {
            this.call = call;
            this.cursor = cursor;
        }

        @Override
        public boolean take(SetView set) {
            if (cursor.matches(call, set.memberAddress(), set.memberLength())) {
                set.replyMember(call.reply());
                count++;
            }
            return true;
        }
    }

    // --- random members

    private static void randmember(Invocation call) {
        boolean counted = call.argumentCount() > 2;
        if (call.argumentCount() > 3) {
            call.syntaxError();
            return;
        }
        if (counted && !call.requireNegatableLong(2)) {
            return;
        }
        long count = counted ? call.longValue() : 1;
        SetValue set = Sets.of(call).first();
        Found found = set.open(call, call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        ReplyWriter reply = call.reply();
        if (!counted) {
            replyAny(reply, set);
        } else if (found == Found.MISSING || count == 0) {
            reply.array(0);
        } else if (count < -RandomRanks.MOST_PICKS) {
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

    private static void pop(Invocation call) {
        boolean counted = call.argumentCount() > 2;
        if (call.argumentCount() > 3) {
            call.syntaxError();
            return;
        }
        if (counted && (!call.requireLong(2, NOT_POSITIVE) || isNegative(call))) {
            return;
        }
        long count = counted ? call.longValue() : 1;
        SetValue set = Sets.of(call).first();
        if (set.openForWriting(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long popped = Math.min(count, set.size());
        if (counted) {
            call.reply().set(popped);
        } else if (popped == 0) {
            call.reply().nil();
        }
        if (popped > 0) {
            set.pop(call.reply(), popped, ThreadLocalRandom.current().nextLong());
            call.events().tellRemoval(KeyEvent.SPOP, call.keyAt(0), set.size() == 0);
        }
    }

    private static boolean isNegative(Invocation call) {
        if (call.longValue() < 0) {
            call.reply().error(NOT_POSITIVE);
            return true;
        }
        return false;
    }
}
