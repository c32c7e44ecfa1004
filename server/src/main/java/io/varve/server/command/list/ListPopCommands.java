package io.varve.server.command.list;

import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
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

import static io.varve.server.command.list.ListCommands.list;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Commands that pop from the first non-empty list of several, or move an element to another list, and their blocking
 * variants. Immutable: static handlers.
 */
final class ListPopCommands {
    private static final String TAKEN_AND_GIVEN = "RW access delete";

    private ListPopCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(move("lmove", 5, "6.2.0", "Pops an element from a list and pushes it to another list")
                .handler(context -> move(context, 3, 4)));
        table.add(move("rpoplpush", 3, "1.2.0", "Pops the last element of a list and prepends it to another list")
                .handler(context -> move(context, false, true)));
        table.add(waiting(move("blmove", 6, "6.2.0",
                "Pops an element from a list and pushes it to another list; blocks until one is available"))
                .handler(ListPopCommands::moveLater));
        table.add(waiting(move("brpoplpush", 4, "2.2.0",
                "Pops the last element of a list and prepends it to another list; blocks until one is available"))
                .handler(context -> moveLater(context, false, true)));
        table.add(pops("blpop", "Removes and returns the first element of a list; blocks until one is available")
                .handler(context -> popLater(context, true)));
        table.add(pops("brpop", "Removes and returns the last element of a list; blocks until one is available")
                .handler(context -> popLater(context, false)));
        table.add(CommandBuilder.named("lmpop").arity(-4).categories("@list").group("list").since("7.0.0").flags(WRITE)
                .countedKeys(1, TAKEN_AND_GIVEN).traits(CommandTrait.ALL_OR_NOTHING)
                .complexity("O(N+M) where N is the number of keys and M the number of elements returned")
                .summary("Removes and returns elements of the first non-empty list")
                .handler(context -> popMany(context, 1)));
        table.add(CommandBuilder.named("blmpop").arity(-5).categories("@list").group("list").since("7.0.0")
                .flags(WRITE).waitsForKeys(1).countedKeys(2, TAKEN_AND_GIVEN).traits(CommandTrait.ALL_OR_NOTHING)
                .complexity("O(N+M) where N is the number of keys and M the number of elements returned")
                .summary("Removes and returns elements of the first non-empty list; blocks until there is one")
                .handler(context -> popMany(context, 2)));
    }

    private static CommandBuilder move(String name, int arity, String since, String summary) {
        return list(name, arity, since, summary).keys(1, 2, 1).access(TAKEN_AND_GIVEN, "RW insert")
                .flags(WRITE, DENYOOM).traits(CommandTrait.ALL_OR_NOTHING);
    }

    private static CommandBuilder pops(String name, String summary) {
        return waiting(list(name, -3, "2.0.0", summary).keys(1, -2, 1).access(TAKEN_AND_GIVEN).flags(WRITE))
                .traits(CommandTrait.ALL_OR_NOTHING).complexity("O(N) where N is the number of keys");
    }

    private static CommandBuilder waiting(CommandBuilder command) {
        return command.flags(NOSCRIPT).waitsForKeys(-1);
    }

    // --- from one list to another

    private static void move(CommandContext context, int from, int to) {
        if (requireEnd(context, from) && requireEnd(context, to)) {
            move(context, isFirst(context, from), isFirst(context, to));
        }
    }

    private static void moveLater(CommandContext context) {
        if (requireEnd(context, 3) && requireEnd(context, 4)) {
            moveLater(context, isFirst(context, 3), isFirst(context, 4));
        }
    }

    private static boolean requireEnd(CommandContext context, int argument) {
        if (isFirst(context, argument) || context.argumentIs(argument, "RIGHT")) {
            return true;
        }
        context.syntaxError();
        return false;
    }

    private static boolean isFirst(CommandContext context, int argument) {
        return context.argumentIs(argument, "LEFT");
    }

    private static void move(CommandContext context, boolean first, boolean toFirst) {
        switch (take(context, first, toFirst)) {
            case MISSING, NOT_YET -> context.reply().nil();
            case WRONG_TYPE -> context.wrongType();
            case SOME, LAST, REFUSED -> {
                // The reply is written.
            }
        }
    }

    private static void moveLater(CommandContext context, boolean first, boolean toFirst) {
        Blocking.take(context, ItemType.LIST, 1, 1, (again, _) -> take(again, first, toFirst),
                ReplyWriter::nil);
    }

    /** Moves an element of the first key's list to the second's, and replies it. */
    private static Taken take(CommandContext context, boolean first, boolean toFirst) {
        ListValue source = Lists.of(context).first();
        Found found = source.lookUp(context.keyAt(0));
        if (found != Found.PRESENT) {
            return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
        }
        if (isSame(context.keyAt(0), context.keyAt(1))) {
            source.seekEnd(first);
            source.replyTaken();
            if (first == toFirst) {
                source.touch();
            } else {
                source.rotate(first);
            }
            emitMove(context, first, toFirst, false);
            return Taken.SOME;
        }
        ListValue target = Lists.of(context).second();
        if (target.lookUp(context.keyAt(1)) == Found.WRONG_TYPE) {
            context.wrongType();
            return Taken.REFUSED;
        }
        source.seekEnd(first);
        source.replyTaken();
        // All operations that may run out of memory come first.
        source.prepare();
        target.push(toFirst, source.elementAddress(), source.elementLength());
        source.removeEnd(first, 1);
        emitMove(context, first, toFirst, source.length() == 0);
        return left(source);
    }

    private static void emitMove(CommandContext context, boolean first, boolean toFirst, boolean emptied) {
        context.events().emit(toFirst ? KeyEvent.LPUSH : KeyEvent.RPUSH, context.keyAt(1));
        context.events().emitRemoval(first ? KeyEvent.LPOP : KeyEvent.RPOP, context.keyAt(0), emptied);
        context.countChanges(1);
        if (context.isRecording()) {
            context.record(RecordedCommand.LMOVE, context.keyAt(0), 5).argument(context.keyAt(1))
                    .argument(first ? RecordedCommand.LEFT : RecordedCommand.RIGHT)
                    .argument(toFirst ? RecordedCommand.LEFT : RecordedCommand.RIGHT).end();
        }
    }

    private static boolean isSame(Key a, Key b) {
        return a.length() == b.length() && Memory.equal(a.address(), b.address(), a.length());
    }

    // --- from the first non-empty list

    private static void popLater(CommandContext context, boolean first) {
        Blocking.take(context, ItemType.LIST, context.keyCount(), Blocking.NO_TARGET,
                (again, key) -> {
                    ListValue list = Lists.of(again).first();
                    Found found = list.lookUp(again.keyAt(key));
                    if (found != Found.PRESENT) {
                        return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
                    }
                    Key name = again.keyAt(key);
                    again.reply().array(2);
                    again.reply().bulk(name.address(), name.length());
                    ListCommands.takeEnd(list, first, 1);
                    ListCommands.emitPop(again, name, first, 1, list);
                    recordPop(again, name, first, 1);
                    return left(list);
                }, ReplyWriter::nilArray);
    }

    private static void recordPop(CommandContext context, Key key, boolean first, long count) {
        if (context.isRecording()) {
            context.record(first ? RecordedCommand.LPOP : RecordedCommand.RPOP, key, 3).argument(count).end();
        }
    }

    private static Taken left(ListValue list) {
        return list.length() == 0 ? Taken.LAST : Taken.SOME;
    }

    /**
     * LMPOP and BLMPOP.
     *
     * @param number the argument with the number of keys
     */
    private static void popMany(CommandContext context, int number) {
        if (!context.isLong(number) || context.longValue() <= 0) {
            context.reply().error("ERR numkeys should be greater than 0");
            return;
        }
        long end = number + 1L + context.longValue();
        if (context.longValue() >= context.argumentCount() || end >= context.argumentCount()) {
            context.syntaxError();
            return;
        }
        int where = (int) end;
        if (!requireEnd(context, where)) {
            return;
        }
        long count = 0;
        for (int i = where + 1; i < context.argumentCount(); i += 2) {
            if (count > 0 || !context.argumentIs(i, "COUNT") || i + 1 >= context.argumentCount()) {
                context.syntaxError();
                return;
            }
            if (!context.isLong(i + 1) || context.longValue() <= 0) {
                context.reply().error("ERR count should be greater than 0");
                return;
            }
            count = context.longValue();
        }
        boolean first = isFirst(context, where);
        long max = Math.max(1, count);
        if (number == 1) {
            popNow(context, first, max);
        } else {
            Blocking.take(context, ItemType.LIST, context.keyCount(), Blocking.NO_TARGET,
                    (again, key) -> popMany(again, key, first, max),
                    ReplyWriter::nilArray);
        }
    }

    private static void popNow(CommandContext context, boolean first, long max) {
        for (int i = 0; i < context.keyCount(); i++) {
            Taken taken = popMany(context, i, first, max);
            if (taken == Taken.WRONG_TYPE) {
                context.wrongType();
            }
            if (taken != Taken.MISSING) {
                return;
            }
        }
        context.reply().nilArray();
    }

    private static Taken popMany(CommandContext context, int key, boolean first, long max) {
        ListValue list = Lists.of(context).first();
        Found found = list.lookUp(context.keyAt(key));
        if (found != Found.PRESENT) {
            return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
        }
        Key name = context.keyAt(key);
        long count = Math.min(max, list.length());
        context.reply().array(2);
        context.reply().bulk(name.address(), name.length());
        context.reply().array(count);
        ListCommands.takeEnd(list, first, count);
        ListCommands.emitPop(context, name, first, count, list);
        recordPop(context, name, first, count);
        return left(list);
    }
}
