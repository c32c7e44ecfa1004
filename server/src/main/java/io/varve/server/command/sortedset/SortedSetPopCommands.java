package io.varve.server.command.sortedset;

import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.blocking.Blocking;
import io.varve.server.command.blocking.Blocking.Taken;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.RecordedCommand;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.sortedset.SortedSetCommands.sortedSet;
import static io.varve.server.command.sortedset.SortedSetCommands.unkeyed;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** Commands that pop members from an end of a sorted set, and their blocking variants. Immutable: static handlers. */
final class SortedSetPopCommands {
    private static final String TAKEN = "RW access delete";

    private SortedSetPopCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(sortedSet("zpopmin", -2, "5.0.0", "Removes and returns the members with the lowest scores")
                .access(TAKEN).flags(WRITE, FAST)
                .complexity("O(log(N)*M) where N is the size of the sorted set and M the number of members removed")
                .handler(context -> pop(context, false)));
        table.add(sortedSet("zpopmax", -2, "5.0.0", "Removes and returns the members with the highest scores")
                .access(TAKEN).flags(WRITE, FAST)
                .complexity("O(log(N)*M) where N is the size of the sorted set and M the number of members removed")
                .handler(context -> pop(context, true)));
        table.add(
                unkeyed("zmpop", -4, "7.0.0",
                        "Removes and returns the lowest- or highest-scoring members of the first non-empty sorted set")
                        .countedKeys(1, TAKEN).flags(WRITE).traits(CommandTrait.ALL_OR_NOTHING)
                        .complexity(
                                "O(K) + O(M*log(N)) where K is the number of keys, N the size of the set and M the"
                                        + " number removed")
                        .handler(context -> popMany(context, 1)));
        table.add(
                later("bzpopmin", "Removes and returns the member with the lowest score; blocks until one is available")
                        .handler(context -> popLater(context, false)));
        table.add(later("bzpopmax",
                "Removes and returns the member with the highest score; blocks until one is available")
                .handler(context -> popLater(context, true)));
        table.add(unkeyed("bzmpop", -5, "7.0.0",
                "Removes and returns members of the first non-empty sorted set; blocks until there is one")
                .countedKeys(2, TAKEN).flags(WRITE).waitsForKeys(1).traits(CommandTrait.ALL_OR_NOTHING)
                .complexity(
                        "O(K) + O(M*log(N)) where K is the number of keys, N the size of the set and M the number"
                                + " removed")
                .handler(context -> popMany(context, 2)));
    }

    private static CommandBuilder later(String name, String summary) {
        return unkeyed(name, -3, "5.0.0", summary).keys(1, -2, 1).access(TAKEN)
                .flags(WRITE, NOSCRIPT, FAST).waitsForKeys(-1).traits(CommandTrait.ALL_OR_NOTHING)
                .complexity("O(K) + O(log(N)) where K is the number of keys and N the size of the sorted set");
    }

    private static void pop(CommandContext context, boolean greatest) {
        if (context.argumentCount() > 3) {
            context.syntaxError();
            return;
        }
        boolean counted = context.argumentCount() == 3;
        long count = 1;
        if (counted) {
            if (!context.isLong(2) || context.longValue() < 0) {
                context.reply().error("ERR value is out of range, must be positive");
                return;
            }
            count = context.longValue();
        }
        SortedSetValue set = SortedSets.of(context).set();
        if (set.openForWriting(context, context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long popped = Math.min(count, set.size());
        boolean nested = counted && context.reply().resp3();
        context.reply().array(nested ? popped : 2 * popped);
        take(context, context.keyAt(0), set, popped, greatest, nested);
    }

    private static void popLater(CommandContext context, boolean greatest) {
        Blocking.take(context, ItemType.SORTED_SET, context.keyCount(), Blocking.NO_TARGET,
                (again, key) -> popOne(again, key, greatest), ReplyWriter::nilArray);
    }

    private static Taken popOne(CommandContext context, int key, boolean greatest) {
        SortedSetValue set = SortedSets.of(context).set();
        Found found = set.lookUp(context, context.keyAt(key));
        if (found != Found.PRESENT) {
            return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
        }
        Key name = context.keyAt(key);
        context.reply().array(3);
        context.reply().bulk(name.address(), name.length());
        take(context, name, set, 1, greatest, false);
        return left(set);
    }

    private static Taken left(SortedSetValue set) {
        return set.size() == 0 ? Taken.LAST : Taken.SOME;
    }

    /**
     * ZMPOP and BZMPOP.
     *
     * @param number the argument with the number of keys
     */
    private static void popMany(CommandContext context, int number) {
        if (!context.isLong(number) || context.longValue() < 1) {
            context.reply().error("ERR numkeys should be greater than 0");
            return;
        }
        if (context.longValue() >= context.argumentCount() - number - 1L) {
            context.syntaxError();
            return;
        }
        int where = (int) context.longValue() + number + 1;
        boolean greatest = context.argumentIs(where, "MAX");
        if (!greatest && !context.argumentIs(where, "MIN")) {
            context.syntaxError();
            return;
        }
        long count = 1;
        if (context.argumentCount() > where + 1) {
            if (context.argumentCount() == where + 2 || !context.argumentIs(where + 1, "COUNT")) {
                context.syntaxError();
                return;
            }
            if (!context.isLong(where + 2) || context.longValue() < 1) {
                context.reply().error("ERR count should be greater than 0");
                return;
            }
            count = context.longValue();
            if (context.argumentCount() > where + 3) {
                context.syntaxError();
                return;
            }
        }
        long max = count;
        if (number == 1) {
            popNow(context, greatest, max);
        } else {
            Blocking.take(context, ItemType.SORTED_SET, context.keyCount(), Blocking.NO_TARGET,
                    (again, key) -> popMany(again, key, greatest, max), ReplyWriter::nilArray);
        }
    }

    private static void popNow(CommandContext context, boolean greatest, long max) {
        for (int i = 0; i < context.keyCount(); i++) {
            Taken taken = popMany(context, i, greatest, max);
            if (taken == Taken.WRONG_TYPE) {
                context.wrongType();
            }
            if (taken != Taken.MISSING) {
                return;
            }
        }
        context.reply().nilArray();
    }

    private static Taken popMany(CommandContext context, int key, boolean greatest, long max) {
        SortedSetValue set = SortedSets.of(context).set();
        Found found = set.lookUp(context, context.keyAt(key));
        if (found != Found.PRESENT) {
            return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
        }
        Key name = context.keyAt(key);
        long popped = Math.min(max, set.size());
        context.reply().array(2);
        context.reply().bulk(name.address(), name.length());
        context.reply().array(popped);
        take(context, name, set, popped, greatest, true);
        return left(set);
    }

    /** Replies members and removes them. */
    private static void take(CommandContext context, Key key, SortedSetValue set, long count, boolean greatest,
            boolean nested) {
        if (count == 0) {
            return;
        }
        ReplyWriter reply = context.reply();
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
        // Only after the complete reply, because the reply may run out of memory.
        if (greatest) {
            set.removeRange(size - count, size);
        } else {
            set.removeRange(0, count);
        }
        set.finish();
        context.events().emitRemoval(greatest ? KeyEvent.ZPOPMAX : KeyEvent.ZPOPMIN, key, set.size() == 0);
        context.countChanges(count);
        if (context.isRecording()) {
            context.record(greatest ? RecordedCommand.ZPOPMAX : RecordedCommand.ZPOPMIN, key, 3).argument(count).end();
        }
    }
}
