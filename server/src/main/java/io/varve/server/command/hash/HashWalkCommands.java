package io.varve.server.command.hash;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.RandomRanks;
import io.varve.server.command.value.ScanCursor;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.hash.HashCommands.hash;
import static io.varve.server.command.spec.CommandFlag.READONLY;

/** Commands that reply many fields of a hash: all, some, or random ones. Immutable: static handlers. */
final class HashWalkCommands {
    private static final int FIELDS = 1;
    private static final int VALUES = 1 << 1;

    private HashWalkCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(hash("hgetall", 2, "2.0.0", "Returns all fields and values of a hash").access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) where N is the number of fields")
                .handler(HashWalkCommands::getall));
        table.add(hash("hkeys", 2, "2.0.0", "Returns all fields of a hash").access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) where N is the number of fields")
                .handler(context -> list(context, FIELDS)));
        table.add(hash("hvals", 2, "2.0.0", "Returns all values of a hash").access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) where N is the number of fields")
                .handler(context -> list(context, VALUES)));
        table.add(hash("hscan", -3, "2.8.0", "Iterates over the fields and values of a hash").access("RO access")
                .flags(READONLY)
                .tips("nondeterministic_output").complexity("O(1) for each call").handler(HashWalkCommands::scan));
        table.add(hash("hrandfield", -2, "6.2.0", "Returns random fields of a hash").access("RO access")
                .flags(READONLY)
                .tips("nondeterministic_output").complexity("O(N) where N is the number of fields returned")
                .handler(HashWalkCommands::randfield));
    }

    private static void getall(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.open(context.keyAt(0)) != Found.WRONG_TYPE) {
            context.reply().map(hash.size());
            replyAll(context.reply(), hash, FIELDS | VALUES);
        }
    }

    private static void list(CommandContext context, int what) {
        HashValue hash = HashValue.of(context);
        if (hash.open(context.keyAt(0)) != Found.WRONG_TYPE) {
            context.reply().array(hash.size());
            replyAll(context.reply(), hash, what);
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

    private static void scan(CommandContext context) {
        ScanCursor cursor = ScanCursor.read(context, 2);
        if (cursor == null) {
            return;
        }
        HashValue hash = HashValue.of(context);
        Found found = hash.open(context.keyAt(0));
        if (found == Found.WRONG_TYPE || found == Found.PRESENT && !cursor.readOptions(context, 3, false, true)) {
            return;
        }
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        int what = cursor.noValues() ? FIELDS : FIELDS | VALUES;
        int[] answered = {0};
        long next = found == Found.MISSING ? 0 : hash.scan(cursor.position(), cursor.count(), () -> {
            if (cursor.matches(context, hash.fieldAddress(), hash.fieldLength())) {
                reply(reply, hash, what);
                answered[0] += Integer.bitCount(what);
            }
        });
        reply.endScan(mark, next, answered[0]);
    }

    // --- HRANDFIELD

    private static void randfield(CommandContext context) {
        long count = 1;
        boolean withValues = false;
        boolean counted = context.argumentCount() > 2;
        if (counted) {
            if (!context.requireNegatableLong(2)) {
                return;
            }
            count = context.longValue();
            if (context.argumentCount() > 4 || context.argumentCount() == 4 && !context.argumentIs(3, "WITHVALUES")) {
                context.syntaxError();
                return;
            }
            withValues = context.argumentCount() == 4;
            if (withValues && Math.abs(count) > Long.MAX_VALUE / 2) {
                context.reply().error(Errors.OUT_OF_RANGE);
                return;
            }
        }
        HashValue hash = HashValue.of(context);
        if (hash.open(context.keyAt(0)) != Found.WRONG_TYPE) {
            replyRandom(context.reply(), hash, count, counted, withValues);
        }
    }

    /** A positive count requests distinct fields, at most all; a negative one requests that many independent picks. */
    private static void replyRandom(ReplyWriter reply, HashValue hash, long count, boolean counted,
            boolean withValues) {
        long fields = hash.size();
        if (!counted) {
            if (RandomFields.moveToRandom(hash)) {
                hash.replyField(reply);
            } else {
                reply.nil();
            }
            return;
        }
        if (fields > 0 && count < -RandomRanks.MAX_PICKS) {
            reply.error(Errors.OUT_OF_RANGE);
            return;
        }
        long answered = fields == 0 ? 0 : count < 0 ? -count : Math.min(count, fields);
        boolean pairs = withValues && reply.resp3();
        reply.array(withValues && !pairs ? 2 * answered : answered);
        int what = withValues ? FIELDS | VALUES : FIELDS;
        Runnable taker = () -> replyPicked(reply, hash, what, pairs);
        if (count < 0) {
            RandomFields.any(hash, answered, taker);
        } else {
            RandomFields.different(hash, answered, taker);
        }
    }

    private static void replyPicked(ReplyWriter reply, HashValue hash, int what, boolean pair) {
        if (pair) {
            reply.array(2);
        }
        reply(reply, hash, what);
    }
}
