package io.varve.server.command.set;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.set.SetAlgebra.Operation;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.Operands;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.set.SetAlgebra.Operation.DIFFERENCE;
import static io.varve.server.command.set.SetAlgebra.Operation.INTERSECTION;
import static io.varve.server.command.set.SetAlgebra.Operation.UNION;
import static io.varve.server.command.set.SetCommands.set;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** Commands on the intersection, union or difference of several sets. Immutable: static handlers. */
final class SetAlgebraCommands {
    private SetAlgebraCommands() {}

    static void addTo(CommandTable.Builder table) {
        read(table, "sinter", "Returns the intersection of sets", INTERSECTION,
                "O(N*M) where N is the size of the smallest set and M the number of sets");
        read(table, "sunion", "Returns the union of sets", UNION, "O(N) where N is the number of members of all sets");
        read(table, "sdiff", "Returns the difference of sets", DIFFERENCE,
                "O(N) where N is the number of members of all sets");
        store(table, "sinterstore", "Stores the intersection of sets in a key", "RW update", INTERSECTION,
                "O(N*M) where N is the size of the smallest set and M the number of sets");
        store(table, "sunionstore", "Stores the union of sets in a key", "OW update", UNION,
                "O(N) where N is the number of members of all sets");
        store(table, "sdiffstore", "Stores the difference of sets in a key", "OW update",
                DIFFERENCE, "O(N) where N is the number of members of all sets");
        table.add(set("sintercard", -3, "7.0.0", "Returns the number of members of the intersection of sets")
                .countedKeys(1, "RO access").flags(READONLY)
                .complexity("O(N*M) where N is the size of the smallest set and M the number of sets")
                .handler(Operands.releasing(SetAlgebraCommands::intercard)));
    }

    private static void read(CommandTable.Builder table, String name, String summary, Operation operation,
            String complexity) {
        table.add(set(name, -2, "1.0.0", summary).keys(1, -1, 1).access("RO access").flags(READONLY)
                .tips("nondeterministic_output_order").complexity(complexity)
                .handler(Operands.releasing(context -> answer(context, operation))));
    }

    private static void store(CommandTable.Builder table, String name, String summary, String targetUse,
            Operation operation, String complexity) {
        table.add(set(name, -3, "1.0.0", summary).keys(1, -1, 1).access(targetUse, "RO access")
                .flags(WRITE, DENYOOM).complexity(complexity).traits(CommandTrait.ALL_OR_NOTHING)
                .handler(Operands.releasing(context -> store(context, operation))));
    }

    /** Opens all sets from a key on; false after the error for a wrong type was replied. */
    private static boolean open(CommandContext context, int from) {
        Operands operands = Operands.of(context);
        operands.clear(context.cache(), context.keyCount());
        SetValue set = Sets.of(context).first();
        for (int i = from; i < context.keyCount(); i++) {
            if (set.open(context, context.keyAt(i)) == Found.WRONG_TYPE) {
                return false;
            }
            set.addTo(operands, i);
        }
        return true;
    }

    private static void answer(CommandContext context, Operation operation) {
        if (!open(context, 0)) {
            return;
        }
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        Counting counting = new Counting(Long.MAX_VALUE, reply);
        Sets.of(context).algebra().walk(context, operation, counting);
        reply.endSet(mark, counting.count);
    }

    private static void store(CommandContext context, Operation operation) {
        if (open(context, 1)) {
            Sets sets = Sets.of(context);
            context.reply().integer(sets.result().store(context, context.keyAt(0), sets.algebra(), operation));
        }
    }

    private static void intercard(CommandContext context) {
        if (!context.isLong(1) || context.longValue() < 1) {
            context.reply().error("ERR numkeys should be greater than 0");
            return;
        }
        long sets = context.longValue();
        if (sets > context.argumentCount() - 2) {
            context.reply().error("ERR Number of keys can't be greater than number of args");
            return;
        }
        long limit = 0;
        for (int i = 2 + (int) sets; i < context.argumentCount(); i += 2) {
            if (!context.argumentIs(i, "LIMIT") || i + 1 == context.argumentCount()) {
                context.syntaxError();
                return;
            }
            if (!context.isLong(i + 1) || context.longValue() < 0) {
                context.reply().error("ERR LIMIT can't be negative");
                return;
            }
            limit = context.longValue();
        }
        if (open(context, 0)) {
            Counting counting = new Counting(limit == 0 ? Long.MAX_VALUE : limit, null);
            Sets.of(context).algebra().walk(context, INTERSECTION, counting);
            context.reply().integer(counting.count);
        }
    }

    /** Counts members up to a limit, and replies them if {@code reply} is given. Confined to one command. */
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
