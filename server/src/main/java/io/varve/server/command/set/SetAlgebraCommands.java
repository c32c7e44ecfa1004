package io.varve.server.command.set;

import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.set.SetAlgebra.Operation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.Operands;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.set.SetAlgebra.Operation.DIFFERENCE;
import static io.varve.server.command.set.SetAlgebra.Operation.INTERSECTION;
import static io.varve.server.command.set.SetAlgebra.Operation.UNION;
import static io.varve.server.command.set.SetCommands.set;

/** Commands on what several sets have in common, together, or one without the others. Immutable: static handlers. */
final class SetAlgebraCommands {
    private SetAlgebraCommands() {}

    static void addTo(CommandTable.Builder table) {
        read(table, "sinter", "Answers the members that several sets have in common", INTERSECTION,
                "O(N*M) in the smallest set and the number of sets");
        read(table, "sunion", "Answers the members of several sets", UNION, "O(N) in the members of all sets");
        read(table, "sdiff", "Answers the members of a set that no other of several sets has", DIFFERENCE,
                "O(N) in the members of all sets");
        store(table, "sinterstore", "Stores the members that several sets have in common", "RW update", INTERSECTION,
                "O(N*M) in the smallest set and the number of sets");
        store(table, "sunionstore", "Stores the members of several sets", "OW update", UNION,
                "O(N) in the members of all sets");
        store(table, "sdiffstore", "Stores the members of a set that no other of several sets has", "OW update",
                DIFFERENCE, "O(N) in the members of all sets");
        table.add(set("sintercard", -3, "7.0.0", "Counts the members that several sets have in common")
                .countedKeys(1, "RO access").flags(READONLY)
                .complexity("O(N*M) in the smallest set and the number of sets")
                .handler(Operands.releasing(SetAlgebraCommands::intercard)));
    }

    private static void read(CommandTable.Builder table, String name, String summary, Operation operation,
            String complexity) {
        table.add(set(name, -2, "1.0.0", summary).keys(1, -1, 1).access("RO access").flags(READONLY)
                .tips("nondeterministic_output_order").complexity(complexity)
                .handler(Operands.releasing(call -> answer(call, operation))));
    }

    private static void store(CommandTable.Builder table, String name, String summary, String targetUse,
            Operation operation, String complexity) {
        table.add(set(name, -3, "1.0.0", summary).keys(1, -1, 1).access(targetUse, "RO access")
                .flags(WRITE, DENYOOM).complexity(complexity).allOrNothing()
                .handler(Operands.releasing(call -> store(call, operation))));
    }

    /** Opens all sets from a key on; false after the error for a wrong type was replied. */
    private static boolean open(Invocation call, int from) {
        Operands operands = Operands.of(call);
        operands.clear(call.cache(), call.keyCount());
        SetValue set = Sets.of(call).first();
        for (int i = from; i < call.keyCount(); i++) {
            if (set.open(call, call.keyAt(i)) == Found.WRONG_TYPE) {
                return false;
            }
            set.addTo(operands, i);
        }
        return true;
    }

    private static void answer(Invocation call, Operation operation) {
        if (!open(call, 0)) {
            return;
        }
        ReplyWriter reply = call.reply();
        long mark = reply.beginDeferred();
        Counting counting = new Counting(Long.MAX_VALUE, reply);
        Sets.of(call).algebra().walk(call, operation, counting);
        reply.endSet(mark, counting.count);
    }

    private static void store(Invocation call, Operation operation) {
        if (open(call, 1)) {
            Sets sets = Sets.of(call);
            call.reply().integer(sets.result().store(call, call.keyAt(0), sets.algebra(), operation));
        }
    }

    private static void intercard(Invocation call) {
        if (!call.isLong(1) || call.longValue() < 1) {
            call.reply().error("ERR numkeys should be greater than 0");
            return;
        }
        long sets = call.longValue();
        if (sets > call.argumentCount() - 2) {
            call.reply().error("ERR Number of keys can't be greater than number of args");
            return;
        }
        long limit = 0;
        for (int i = 2 + (int) sets; i < call.argumentCount(); i += 2) {
            if (!call.argumentIs(i, "LIMIT") || i + 1 == call.argumentCount()) {
                call.syntaxError();
                return;
            }
            if (!call.isLong(i + 1) || call.longValue() < 0) {
                call.reply().error("ERR LIMIT can't be negative");
                return;
            }
            limit = call.longValue();
        }
        if (open(call, 0)) {
            Counting counting = new Counting(limit == 0 ? Long.MAX_VALUE : limit, null);
            Sets.of(call).algebra().walk(call, INTERSECTION, counting);
            call.reply().integer(counting.count);
        }
    }

    /** Counts members up to a limit, and replies them if that is asked for. Confined to one command. */
    private static final class Counting implements MemberSink {
        private final long limit;
        private final @org.jspecify.annotations.Nullable ReplyWriter reply;
        private long count;

        Counting(long limit, @org.jspecify.annotations.Nullable ReplyWriter reply) {
            this.limit = limit;
            this.reply = reply;
        }

        @Override
        public boolean take(SetView member) {
            if (reply != null) {
                member.replyMember(reply);
            }
            return ++count < limit;
        }
    }
}
