package io.varve.server.command.sortedset;

import java.util.concurrent.ThreadLocalRandom;

import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.RandomRanks;
import io.varve.server.command.value.ScanCursor;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.sortedset.SortedSetCommands.sortedSet;

/** Commands that walk over a sorted set or pick of it. Immutable: static handlers. */
final class SortedSetWalkCommands {
    /** Whole numbers up to this, either way, are integers in a listpack of Redis. */
    private static final double MOST_LISTPACK_INTEGER = 0x1p62;

    private SortedSetWalkCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(sortedSet("zscan", -3, "2.8.0", "Walks over the members of a sorted set, some at a time")
                .access("RO access").flags(READONLY).tips("nondeterministic_output").complexity("O(1) a call")
                .handler(SortedSetWalkCommands::scan));
        table.add(sortedSet("zrandmember", -2, "6.2.0", "Answers members of a sorted set picked at random")
                .access("RO access").flags(READONLY).tips("nondeterministic_output").complexity("O(N) in the answer")
                .handler(SortedSetWalkCommands::randmember));
    }

    private static void scan(Invocation call) {
        ScanCursor cursor = ScanCursor.read(call, 2);
        if (cursor == null) {
            return;
        }
        SortedSetValue set = SortedSets.of(call).set();
        Found found = set.open(call, call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        ReplyWriter reply = call.reply();
        if (found == Found.PRESENT && !cursor.readOptions(call, 3, false)) {
            return;
        }
        long mark = reply.beginDeferred();
        int[] answered = {0};
        long next = found == Found.MISSING ? 0 : set.scan(cursor.position(), cursor.count(), () -> {
            if (cursor.matches(call, set.memberAddress(), set.memberLength())) {
                set.replyMember(reply);
                replyText(reply, set);
                answered[0] += 2;
            }
        });
        reply.endScan(mark, next, answered[0]);
    }

    private static void replyText(ReplyWriter reply, SortedSetValue set) {
        double score = set.score();
        if (set.isListpack() && score == Math.rint(score) && Math.abs(score) <= MOST_LISTPACK_INTEGER) {
            reply.bulkLong((long) score);
        } else {
            reply.bulkDouble(score);
        }
    }

    // --- ZRANDMEMBER

    private static void randmember(Invocation call) {
        SortedSetValue set = SortedSets.of(call).set();
        if (call.argumentCount() == 2) {
            switch (set.open(call, call.keyAt(0))) {
                case MISSING -> call.reply().nil();
                case PRESENT -> {
                    set.seek(ThreadLocalRandom.current().nextLong(set.size()));
                    set.replyMember(call.reply());
                }
                case WRONG_TYPE -> {
                }
            }
            return;
        }
        if (!call.requireNegatableLong(2)) {
            return;
        }
        long count = call.longValue();
        if (call.argumentCount() > 4 || call.argumentCount() == 4 && !call.argumentIs(3, "WITHSCORES")) {
            call.syntaxError();
            return;
        }
        boolean withScores = call.argumentCount() == 4;
        if (withScores && Math.abs(count) > Long.MAX_VALUE / 2) {
            call.reply().error(Errors.OUT_OF_RANGE);
            return;
        }
        if (set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            replyRandom(call.reply(), set, count, withScores);
        }
    }

    /** A positive count asks for different members, as many as there are; a negative one for that many picks. */
    private static void replyRandom(ReplyWriter reply, SortedSetValue set, long count, boolean withScores) {
        long size = set.size();
        if (size > 0 && count < -RandomRanks.MOST_PICKS) {
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
