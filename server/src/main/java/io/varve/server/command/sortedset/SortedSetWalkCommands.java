package io.varve.server.command.sortedset;

import java.util.concurrent.ThreadLocalRandom;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.RandomRanks;
import io.varve.server.command.value.ScanCursor;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.sortedset.SortedSetCommands.sortedSet;
import static io.varve.server.command.spec.CommandFlag.READONLY;

/** Commands that iterate over a sorted set or pick random members. Immutable: static handlers. */
final class SortedSetWalkCommands {
    /** Whole numbers up to this absolute value are integers in a Redis listpack. */
    private static final double MAX_LISTPACK_INTEGER = 0x1p62;

    private SortedSetWalkCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(sortedSet("zscan", -3, "2.8.0", "Iterates over the members and scores of a sorted set")
                .access("RO access").flags(READONLY).tips("nondeterministic_output").complexity("O(1) for each call")
                .handler(SortedSetWalkCommands::scan));
        table.add(sortedSet("zrandmember", -2, "6.2.0", "Returns random members of a sorted set")
                .access("RO access").flags(READONLY).tips("nondeterministic_output")
                .complexity("O(N) where N is the number of members returned")
                .handler(SortedSetWalkCommands::randmember));
    }

    private static void scan(CommandContext context) {
        ScanCursor cursor = ScanCursor.read(context, 2);
        if (cursor == null) {
            return;
        }
        SortedSetValue set = SortedSets.of(context).set();
        Found found = set.open(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        ReplyWriter reply = context.reply();
        if (found == Found.PRESENT && !cursor.readOptions(context, 3, false)) {
            return;
        }
        long mark = reply.beginDeferred();
        int[] answered = {0};
        long next = found == Found.MISSING ? 0 : set.scan(cursor.position(), cursor.count(), () -> {
            if (cursor.matches(context, set.memberAddress(), set.memberLength())) {
                set.replyMember(reply);
                replyText(reply, set);
                answered[0] += 2;
            }
        });
        reply.endScan(mark, next, answered[0]);
    }

    private static void replyText(ReplyWriter reply, SortedSetValue set) {
        double score = set.score();
        if (set.isListpack() && score == Math.rint(score) && Math.abs(score) <= MAX_LISTPACK_INTEGER) {
            reply.bulkLong((long) score);
        } else {
            reply.bulkDouble(score);
        }
    }

    // --- ZRANDMEMBER

    private static void randmember(CommandContext context) {
        SortedSetValue set = SortedSets.of(context).set();
        if (context.argumentCount() == 2) {
            switch (set.open(context, context.keyAt(0))) {
                case MISSING -> context.reply().nil();
                case PRESENT -> {
                    set.seek(ThreadLocalRandom.current().nextLong(set.size()));
                    set.replyMember(context.reply());
                }
                case WRONG_TYPE -> {
                }
            }
            return;
        }
        if (!context.requireNegatableLong(2)) {
            return;
        }
        long count = context.longValue();
        if (context.argumentCount() > 4 || context.argumentCount() == 4 && !context.argumentIs(3, "WITHSCORES")) {
            context.syntaxError();
            return;
        }
        boolean withScores = context.argumentCount() == 4;
        if (withScores && Math.abs(count) > Long.MAX_VALUE / 2) {
            context.reply().error(Errors.OUT_OF_RANGE);
            return;
        }
        if (set.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            replyRandom(context.reply(), set, count, withScores);
        }
    }

    /** A positive count requests distinct members, at most all; a negative one requests that many independent picks. */
    private static void replyRandom(ReplyWriter reply, SortedSetValue set, long count, boolean withScores) {
        long size = set.size();
        if (size > 0 && count < -RandomRanks.MAX_PICKS) {
            reply.error(Errors.OUT_OF_RANGE);
            return;
        }
        long answered = size == 0 ? 0 : count < 0 ? -count : Math.min(count, size);
        ScoredReplies.head(reply, answered, withScores);
        if (answered == 0) {
            return;
        }
        if (count > 0) {
            RandomRanks.forEach(size, answered, rank -> {
                set.seek(rank);
                ScoredReplies.member(reply, set, withScores);
            });
            return;
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (long i = 0; i < answered; i++) {
            set.seek(random.nextLong(size));
            ScoredReplies.member(reply, set, withScores);
        }
    }
}
