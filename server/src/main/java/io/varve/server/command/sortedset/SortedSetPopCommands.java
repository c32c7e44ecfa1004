package io.varve.server.command.sortedset;

import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Blocking;
import io.varve.server.command.Blocking.Taken;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.sortedset.SortedSetCommands.sortedSet;
import static io.varve.server.command.sortedset.SortedSetCommands.unkeyed;

/** Commands that take members off an end of a sorted set, and those of them that wait for one. Immutable: static handlers. */
final class SortedSetPopCommands {
    private static final String TAKEN = "RW access delete";

    private SortedSetPopCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(sortedSet("zpopmin", -2, "5.0.0", "Takes the members with the least scores out of a sorted set")
                .access(TAKEN).flags(WRITE, FAST).complexity("O(log(N)*M) with M the members taken")
                .handler(call -> pop(call, false)));
        table.add(sortedSet("zpopmax", -2, "5.0.0", "Takes the members with the greatest scores out of a sorted set")
                .access(TAKEN).flags(WRITE, FAST).complexity("O(log(N)*M) with M the members taken")
                .handler(call -> pop(call, true)));
        table.add(
                unkeyed("zmpop", -4, "7.0.0", "Takes members off an end of the first of some sorted sets that is there")
                        .countedKeys(1, TAKEN).flags(WRITE).allOrNothing()
                        .complexity("O(K) + O(M*log(N)) with K the keys and M the members taken")
                        .handler(call -> popMany(call, 1)));
        table.add(later("bzpopmin", "Takes the member with the least score out of a sorted set, or waits for one")
                .handler(call -> popLater(call, false)));
        table.add(later("bzpopmax", "Takes the member with the greatest score out of a sorted set, or waits for one")
                .handler(call -> popLater(call, true)));
        table.add(unkeyed("bzmpop", -5, "7.0.0",
                "Takes members off an end of the first of some sorted sets that is there, or waits for one")
                .countedKeys(2, TAKEN).flags(WRITE).waitsForKeys(1).allOrNothing()
                .complexity("O(K) + O(M*log(N)) with K the keys and M the members taken")
                .handler(call -> popMany(call, 2)));
    }

    private static CommandBuilder later(String name, String summary) {
        return unkeyed(name, -3, "5.0.0", summary).keys(1, -2, 1).access(TAKEN)
                .flags(WRITE, NOSCRIPT, FAST).waitsForKeys(-1).allOrNothing()
                .complexity("O(K) + O(log(N)) with K the keys");
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
        SortedSetValue set = SortedSets.of(call).set();
        if (set.openForWriting(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long popped = Math.min(count, set.size());
        boolean nested = counted && call.reply().resp3();
        call.reply().array(nested ? popped : 2 * popped);
        take(call, call.keyAt(0), set, popped, greatest, nested);
    }

    private static void popLater(Invocation call, boolean greatest) {
        Blocking.take(call, ItemType.SORTED_SET, call.keyCount(), Blocking.NO_TARGET,
                (again, key) -> popOne(again, key, greatest), ReplyWriter::nilArray);
    }

    private static Taken popOne(Invocation call, int key, boolean greatest) {
        SortedSetValue set = SortedSets.of(call).set();
        Found found = set.look(call, call.keyAt(key));
        if (found != Found.PRESENT) {
            return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
        }
        Key name = call.keyAt(key);
        call.reply().array(3);
        call.reply().bulk(name.address(), name.length());
        take(call, name, set, 1, greatest, false);
        return left(set);
    }

    private static Taken left(SortedSetValue set) {
        return set.size() == 0 ? Taken.LAST : Taken.SOME;
    }

    /**
     * ZMPOP and BZMPOP.
     *
     * @param number the argument that says how many keys there are
     */
    private static void popMany(Invocation call, int number) {
        if (!call.isLong(number) || call.longValue() < 1) {
            call.reply().error("ERR numkeys should be greater than 0");
            return;
        }
        if (call.longValue() >= call.argumentCount() - number - 1L) {
            call.syntaxError();
            return;
        }
        int where = (int) call.longValue() + number + 1;
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
        long most = count;
        if (number == 1) {
            popNow(call, greatest, most);
        } else {
            Blocking.take(call, ItemType.SORTED_SET, call.keyCount(), Blocking.NO_TARGET,
                    (again, key) -> popMany(again, key, greatest, most), ReplyWriter::nilArray);
        }
    }

    private static void popNow(Invocation call, boolean greatest, long most) {
        for (int i = 0; i < call.keyCount(); i++) {
            Taken taken = popMany(call, i, greatest, most);
            if (taken == Taken.WRONG_TYPE) {
                call.wrongType();
            }
            if (taken != Taken.MISSING) {
                return;
            }
        }
        call.reply().nilArray();
    }

    private static Taken popMany(Invocation call, int key, boolean greatest, long most) {
        SortedSetValue set = SortedSets.of(call).set();
        Found found = set.look(call, call.keyAt(key));
        if (found != Found.PRESENT) {
            return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
        }
        Key name = call.keyAt(key);
        long popped = Math.min(most, set.size());
        call.reply().array(2);
        call.reply().bulk(name.address(), name.length());
        call.reply().array(popped);
        take(call, name, set, popped, greatest, true);
        return left(set);
    }

    /** Replies members and removes them. */
    private static void take(Invocation call, Key key, SortedSetValue set, long count, boolean greatest,
            boolean nested) {
        if (count == 0) {
            return;
        }
        ReplyWriter reply = call.reply();
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
        call.events().tellRemoval(greatest ? KeyEvent.ZPOPMAX : KeyEvent.ZPOPMIN, key, set.size() == 0);
        call.countChanges(count);
    }
}
