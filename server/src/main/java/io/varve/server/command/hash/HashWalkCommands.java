package io.varve.server.command.hash;

import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.RandomRanks;
import io.varve.server.command.value.ScanCursor;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.hash.HashCommands.hash;

/** Commands that answer many fields of a hash at a time, all, some, or random ones. Immutable: static handlers. */
final class HashWalkCommands {
    private static final int FIELDS = 1;
    private static final int VALUES = 1 << 1;

    private HashWalkCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(hash("hgetall", 2, "2.0.0", "Answers all fields and values of a hash").access("RO access")
                .flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) in the fields")
                .handler(HashWalkCommands::getall));
        table.add(hash("hkeys", 2, "2.0.0", "Answers all fields of a hash").access("RO access").flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) in the fields")
                .handler(call -> list(call, FIELDS)));
        table.add(hash("hvals", 2, "2.0.0", "Answers all values of a hash").access("RO access").flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) in the fields")
                .handler(call -> list(call, VALUES)));
        table.add(hash("hscan", -3, "2.8.0", "Walks over the fields of a hash, some at a time").access("RO access")
                .flags(READONLY)
                .tips("nondeterministic_output").complexity("O(1) a call").handler(HashWalkCommands::scan));
        table.add(hash("hrandfield", -2, "6.2.0", "Answers fields of a hash picked at random").access("RO access")
                .flags(READONLY)
                .tips("nondeterministic_output").complexity("O(N) in the answer")
                .handler(HashWalkCommands::randfield));
    }

    private static void getall(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().map(hash.size());
            replyAll(call.reply(), hash, FIELDS | VALUES);
        }
    }

    private static void list(Invocation call, int what) {
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().array(hash.size());
            replyAll(call.reply(), hash, what);
        }
    }

    private static void replyAll(ReplyWriter reply, HashValue hash, int what) {
        for (boolean more = hash.first(); more; more = hash.next()) {
            reply(reply, hash, what);
        }
    }

    private static void reply(ReplyWriter reply, HashValue hash, int what) {
        if ((what & FIELDS) != 0) {
            hash.replyField(reply);
        }
        if ((what & VALUES) != 0) {
            hash.replyValue(reply);
        }
    }

    private static void scan(Invocation call) {
        ScanCursor cursor = ScanCursor.read(call, 2);
        if (cursor == null) {
            return;
        }
        HashValue hash = HashValue.of(call);
        Found found = hash.open(call.keyAt(0));
        if (found == Found.WRONG_TYPE || found == Found.PRESENT && !cursor.readOptions(call, 3, false, true)) {
            return;
        }
        ReplyWriter reply = call.reply();
        long mark = reply.beginDeferred();
        int what = cursor.noValues() ? FIELDS : FIELDS | VALUES;
        int[] answered = {0};
        long next = found == Found.MISSING ? 0 : hash.scan(cursor.position(), cursor.count(), () -> {
            if (cursor.matches(call, hash.fieldAddress(), hash.fieldLength())) {
                reply(reply, hash, what);
                answered[0] += Integer.bitCount(what);
            }
        });
        reply.endScan(mark, next, answered[0]);
    }

    // --- HRANDFIELD

    private static void randfield(Invocation call) {
        long count = 1;
        boolean withValues = false;
        boolean counted = call.argumentCount() > 2;
        if (counted) {
            if (!call.requireNegatableLong(2)) {
                return;
            }
            count = call.longValue();
            if (call.argumentCount() > 4 || call.argumentCount() == 4 && !call.argumentIs(3, "WITHVALUES")) {
                call.syntaxError();
                return;
            }
            withValues = call.argumentCount() == 4;
            if (withValues && Math.abs(count) > Long.MAX_VALUE / 2) {
                call.reply().error(Errors.OUT_OF_RANGE);
                return;
            }
        }
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) != Found.WRONG_TYPE) {
            replyRandom(call.reply(), hash, count, counted, withValues);
        }
    }

    /** A positive count asks for different fields, as many as there are; a negative one for that many picks. */
    private static void replyRandom(ReplyWriter reply, HashValue hash, long count, boolean counted,
            boolean withValues) {
        long fields = hash.size();
        if (!counted) {
            if (HashPicks.goToAny(hash)) {
                hash.replyField(reply);
            } else {
                reply.nil();
            }
            return;
        }
        if (fields > 0 && count < -RandomRanks.MOST_PICKS) {
            reply.error(Errors.OUT_OF_RANGE);
            return;
        }
        long answered = fields == 0 ? 0 : count < 0 ? -count : Math.min(count, fields);
        boolean pairs = withValues && reply.resp3();
        reply.array(withValues && !pairs ? 2 * answered : answered);
        int what = withValues ? FIELDS | VALUES : FIELDS;
        Runnable taker = () -> replyPicked(reply, hash, what, pairs);
        if (count < 0) {
            HashPicks.any(hash, answered, taker);
        } else {
            HashPicks.different(hash, answered, taker);
        }
    }

    private static void replyPicked(ReplyWriter reply, HashValue hash, int what, boolean pair) {
        if (pair) {
            reply.array(2);
        }
        reply(reply, hash, what);
    }
}
