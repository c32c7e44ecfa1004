package io.varve.server.command;

import io.varve.server.command.KeyLookup.Found;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.SortedSetCommands.sortedSet;
import static io.varve.server.command.SortedSetCommands.unkeyed;

/** Commands that take members off an end of a sorted set. Immutable: static handlers. */
final class SortedSetPopCommands {
    private SortedSetPopCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(sortedSet("zpopmin", -2, "5.0.0", "Takes the members with the least scores out of a sorted set")
                .access("RW access delete").flags(WRITE, FAST).complexity("O(log(N)*M) with M the members taken")
                .handler(call -> pop(call, false)));
        table.add(sortedSet("zpopmax", -2, "5.0.0", "Takes the members with the greatest scores out of a sorted set")
                .access("RW access delete").flags(WRITE, FAST).complexity("O(log(N)*M) with M the members taken")
                .handler(call -> pop(call, true)));
        table.add(
                unkeyed("zmpop", -4, "7.0.0", "Takes members off an end of the first of some sorted sets that is there")
                        .countedKeys(1, "RW access delete").flags(WRITE).allOrNothing()
                        .complexity("O(K) + O(M*log(N)) with K the keys and M the members taken")
                        .handler(SortedSetPopCommands::mpop));
    }

    private static void pop(Invocation call, boolean greatest) {
        if (call.argumentCount() > 3) {
            call.syntaxError();
            return;
        }
        boolean counted = call.argumentCount() == 3;
        long count = 1;
        if (counted) {
            if (!call.isLong(2) || call.longValue() < 0) {
                call.reply().error("ERR value is out of range, must be positive");
                return;
            }
            count = call.longValue();
        }
        SortedSetValue set = call.sortedSets().set();
        if (set.openForWriting(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long popped = Math.min(count, set.size());
        boolean nested = counted && call.reply().resp3();
        call.reply().array(nested ? popped : 2 * popped);
        take(call.reply(), set, popped, greatest, nested);
    }

    private static void mpop(Invocation call) {
        if (!call.isLong(1) || call.longValue() < 1) {
            call.reply().error("ERR numkeys should be greater than 0");
            return;
        }
        if (call.longValue() >= call.argumentCount() - 2L) {
            call.syntaxError();
            return;
        }
        int where = (int) call.longValue() + 2;
        boolean greatest = call.argumentIs(where, "MAX");
        if (!greatest && !call.argumentIs(where, "MIN")) {
            call.syntaxError();
            return;
        }
        long count = 1;
        if (call.argumentCount() > where + 1) {
            if (call.argumentCount() == where + 2 || !call.argumentIs(where + 1, "COUNT")) {
                call.syntaxError();
                return;
            }
            if (!call.isLong(where + 2) || call.longValue() < 1) {
                call.reply().error("ERR count should be greater than 0");
                return;
            }
            count = call.longValue();
            if (call.argumentCount() > where + 3) {
                call.syntaxError();
                return;
            }
        }
        SortedSetValue set = call.sortedSets().set();
        for (int i = 0; i < call.keyCount(); i++) {
            Found found = set.openForWriting(call, call.keyAt(i));
            if (found == Found.WRONG_TYPE) {
                return;
            }
            if (found == Found.PRESENT) {
                long popped = Math.min(count, set.size());
                call.reply().array(2);
                call.reply().bulk(call.keyAt(i).address(), call.keyAt(i).length());
                call.reply().array(popped);
                take(call.reply(), set, popped, greatest, true);
                return;
            }
        }
        call.reply().nilArray();
    }

    /** Replies members and removes them. */
    private static void take(ReplyWriter reply, SortedSetValue set, long count, boolean greatest, boolean nested) {
        if (count == 0) {
            return;
        }
        long size = set.size();
        set.prepare();
        boolean more = set.seek(greatest ? size - 1 : 0);
        for (long left = count; left > 0 && more; left--) {
            if (nested) {
                reply.array(2);
            }
            set.replyMember(reply);
            reply.doubleValue(set.score());
            more = greatest ? set.previous() : set.next();
        }
        // Only now that the reply is complete, because there may be no room for it.
        if (greatest) {
            set.removeRange(size - count, size);
        } else {
            set.removeRange(0, count);
        }
        set.finish();
    }
}
