package io.varve.server.command.list;

import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Blocking;
import io.varve.server.command.Blocking.Taken;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.list.ListCommands.list;

/**
 * Commands that take elements from the first of several lists that has any, or move one to another list, and those of them that
 * wait for an element. Immutable: static handlers.
 */
final class ListTakeCommands {
    private static final String TAKEN_AND_GIVEN = "RW access delete";

    private ListTakeCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(move("lmove", 5, "6.2.0", "Moves an element from one end of a list to one of another")
                .handler(call -> move(call, 3, 4)));
        table.add(move("rpoplpush", 3, "1.2.0", "Moves the last element of a list to the beginning of another")
                .handler(call -> move(call, false, true)));
        table.add(waiting(move("blmove", 6, "6.2.0", "Moves an element between lists, or waits for one"))
                .handler(ListTakeCommands::moveLater));
        table.add(waiting(move("brpoplpush", 4, "2.2.0", "Moves the last element of a list, or waits for one"))
                .handler(call -> moveLater(call, false, true)));
        table.add(pops("blpop", "Removes the first element of a list, or waits for one")
                .handler(call -> popLater(call, true)));
        table.add(pops("brpop", "Removes the last element of a list, or waits for one")
                .handler(call -> popLater(call, false)));
        table.add(CommandSpec.named("lmpop").arity(-4).categories("@list").group("list").since("7.0.0").flags(WRITE)
                .countedKeys(1, TAKEN_AND_GIVEN).allOrNothing().complexity("O(N+M) in the keys and the elements")
                .summary("Removes elements of the first list that has any").handler(call -> popMany(call, 1)));
        table.add(CommandSpec.named("blmpop").arity(-5).categories("@list").group("list").since("7.0.0")
                .flags(WRITE).waitsForKeys(1).countedKeys(2, TAKEN_AND_GIVEN).allOrNothing()
                .complexity("O(N+M) in the keys and the elements")
                .summary("Removes elements of the first list that has any, or waits for one")
                .handler(call -> popMany(call, 2)));
    }

    private static CommandBuilder move(String name, int arity, String since, String summary) {
        return list(name, arity, since, summary).keys(1, 2, 1).access(TAKEN_AND_GIVEN, "RW insert")
                .flags(WRITE, DENYOOM).allOrNothing();
    }

    private static CommandBuilder pops(String name, String summary) {
        return waiting(list(name, -3, "2.0.0", summary).keys(1, -2, 1).access(TAKEN_AND_GIVEN).flags(WRITE))
                .allOrNothing().complexity("O(N) in the keys");
    }

    private static CommandBuilder waiting(CommandBuilder command) {
        return command.flags(NOSCRIPT).waitsForKeys(-1);
    }

    // --- from one list to another

    private static void move(Invocation call, int from, int to) {
        if (requireEnd(call, from) && requireEnd(call, to)) {
            move(call, isFirst(call, from), isFirst(call, to));
        }
    }

    private static void moveLater(Invocation call) {
        if (requireEnd(call, 3) && requireEnd(call, 4)) {
            moveLater(call, isFirst(call, 3), isFirst(call, 4));
        }
    }

    private static boolean requireEnd(Invocation call, int argument) {
        if (isFirst(call, argument) || call.argumentIs(argument, "RIGHT")) {
            return true;
        }
        call.syntaxError();
        return false;
    }

    private static boolean isFirst(Invocation call, int argument) {
        return call.argumentIs(argument, "LEFT");
    }

    private static void move(Invocation call, boolean first, boolean toFirst) {
        switch (take(call, first, toFirst)) {
            case MISSING -> call.reply().nil();
            case WRONG_TYPE -> call.wrongType();
            case SOME, LAST, REFUSED -> {
                // It has replied.
            }
        }
    }

    private static void moveLater(Invocation call, boolean first, boolean toFirst) {
        Blocking.take(call, ItemType.LIST, 1, 1, (again, _) -> take(again, first, toFirst),
                ReplyWriter::nil);
    }

    /** Moves an element of the first key's list to the second's, and replies it. */
    private static Taken take(Invocation call, boolean first, boolean toFirst) {
        ListValue source = Lists.of(call).first();
        Found found = source.look(call.keyAt(0));
        if (found != Found.PRESENT) {
            return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
        }
        if (isSame(call.keyAt(0), call.keyAt(1))) {
            source.seekEnd(first);
            source.replyTaken();
            if (first == toFirst) {
                source.touch();
            } else {
                source.rotate(first);
            }
            tellMove(call, first, toFirst, false);
            return Taken.SOME;
        }
        ListValue target = Lists.of(call).second();
        if (target.look(call.keyAt(1)) == Found.WRONG_TYPE) {
            call.wrongType();
            return Taken.REFUSED;
        }
        source.seekEnd(first);
        source.replyTaken();
        // Whatever may be refused comes first.
        source.prepare();
        target.push(toFirst, source.elementAddress(), source.elementLength());
        source.removeEnd(first, 1);
        tellMove(call, first, toFirst, source.length() == 0);
        return left(source);
    }

    private static void tellMove(Invocation call, boolean first, boolean toFirst, boolean emptied) {
        call.events().tell(toFirst ? KeyEvent.LPUSH : KeyEvent.RPUSH, call.keyAt(1));
        call.events().tellRemoval(first ? KeyEvent.LPOP : KeyEvent.RPOP, call.keyAt(0), emptied);
        call.countChanges(1);
    }

    private static boolean isSame(Key a, Key b) {
        return a.length() == b.length() && Memory.equal(a.address(), b.address(), a.length());
    }

    // --- from the first list that has any

    private static void popLater(Invocation call, boolean first) {
        Blocking.take(call, ItemType.LIST, call.keyCount(), Blocking.NO_TARGET,
                (again, key) -> {
                    ListValue list = Lists.of(again).first();
                    Found found = list.look(again.keyAt(key));
                    if (found != Found.PRESENT) {
                        return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
                    }
                    Key name = again.keyAt(key);
                    again.reply().array(2);
                    again.reply().bulk(name.address(), name.length());
                    ListCommands.takeEnd(list, first, 1);
                    ListCommands.tellPop(again, name, first, 1, list);
                    return left(list);
                }, ReplyWriter::nilArray);
    }

    private static Taken left(ListValue list) {
        return list.length() == 0 ? Taken.LAST : Taken.SOME;
    }

    /**
     * LMPOP and BLMPOP.
     *
     * @param number the argument that says how many keys there are
     */
    private static void popMany(Invocation call, int number) {
        if (!call.isLong(number) || call.longValue() <= 0) {
            call.reply().error("ERR numkeys should be greater than 0");
            return;
        }
        long end = number + 1L + call.longValue();
        if (call.longValue() >= call.argumentCount() || end >= call.argumentCount()) {
            call.syntaxError();
            return;
        }
        int where = (int) end;
        if (!requireEnd(call, where)) {
            return;
        }
        long count = 0;
        for (int i = where + 1; i < call.argumentCount(); i += 2) {
            if (count > 0 || !call.argumentIs(i, "COUNT") || i + 1 >= call.argumentCount()) {
                call.syntaxError();
                return;
            }
            if (!call.isLong(i + 1) || call.longValue() <= 0) {
                call.reply().error("ERR count should be greater than 0");
                return;
            }
            count = call.longValue();
        }
        boolean first = isFirst(call, where);
        long most = Math.max(1, count);
        if (number == 1) {
            popNow(call, first, most);
        } else {
            Blocking.take(call, ItemType.LIST, call.keyCount(), Blocking.NO_TARGET,
                    (again, key) -> popMany(again, key, first, most),
                    ReplyWriter::nilArray);
        }
    }

    private static void popNow(Invocation call, boolean first, long most) {
        for (int i = 0; i < call.keyCount(); i++) {
            Taken taken = popMany(call, i, first, most);
            if (taken == Taken.WRONG_TYPE) {
                call.wrongType();
            }
            if (taken != Taken.MISSING) {
                return;
            }
        }
        call.reply().nilArray();
    }

    private static Taken popMany(Invocation call, int key, boolean first, long most) {
        ListValue list = Lists.of(call).first();
        Found found = list.look(call.keyAt(key));
        if (found != Found.PRESENT) {
            return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
        }
        Key name = call.keyAt(key);
        long count = Math.min(most, list.length());
        call.reply().array(2);
        call.reply().bulk(name.address(), name.length());
        call.reply().array(count);
        ListCommands.takeEnd(list, first, count);
        ListCommands.tellPop(call, name, first, count, list);
        return left(list);
    }
}
