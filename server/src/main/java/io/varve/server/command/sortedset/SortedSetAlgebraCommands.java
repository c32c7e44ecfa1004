package io.varve.server.command.sortedset;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.sortedset.SortedSetAlgebra.Aggregate;
import io.varve.server.command.sortedset.SortedSetAlgebra.Operation;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.MemberList;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.sortedset.SortedSetCommands.unkeyed;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** Commands on the union, intersection or difference of sorted sets. Immutable: static handlers. */
final class SortedSetAlgebraCommands {
    /** Whether the result is replied, stored or only counted. */
    private enum Use {
        ANSWER, STORE, COUNT
    }

    private SortedSetAlgebraCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(answer("zunion", "6.2.0", "Returns the union of sorted sets").complexity("O(N)+O(M*log(M))")
                .handler(context -> run(context, Operation.UNION, Use.ANSWER)));
        table.add(answer("zinter", "6.2.0", "Returns the intersection of sorted sets")
                .complexity("O(N*K)+O(M*log(M)) where N is the size of the smallest of K sets and M that of the result")
                .handler(context -> run(context, Operation.INTERSECTION, Use.ANSWER)));
        table.add(answer("zdiff", "6.2.0", "Returns the difference of sorted sets")
                .complexity(
                        "O(L + (N-K)log(N)) where L is the size of all sets, N that of the first and K that of the"
                                + " result")
                .handler(
                        context -> run(context, Operation.DIFFERENCE, Use.ANSWER)));
        table.add(answer("zintercard", "7.0.0", "Returns the number of members of the intersection of sorted sets")
                .complexity("O(N*K) where N is the size of the smallest of K sets")
                .handler(context -> run(context, Operation.INTERSECTION, Use.COUNT)));
        table.add(store("zunionstore", "2.0.0", "Stores the union of sorted sets in a key")
                .complexity("O(N)+O(M*log(M))").handler(context -> run(context, Operation.UNION, Use.STORE)));
        table.add(store("zinterstore", "2.0.0", "Stores the intersection of sorted sets in a key")
                .complexity("O(N*K)+O(M*log(M)) where N is the size of the smallest of K sets and M that of the result")
                .handler(context -> run(context, Operation.INTERSECTION, Use.STORE)));
        table.add(store("zdiffstore", "6.2.0", "Stores the difference of sorted sets in a key")
                .complexity(
                        "O(L + (N-K)log(N)) where L is the size of all sets, N that of the first and K that of the"
                                + " result")
                .handler(
                        context -> run(context, Operation.DIFFERENCE, Use.STORE)));
    }

    private static CommandBuilder answer(String name, String since, String summary) {
        return unkeyed(name, -3, since, summary).countedKeys(1, "RO access").flags(READONLY)
                .traits(CommandTrait.ALL_OR_NOTHING);
    }

    private static CommandBuilder store(String name, String since, String summary) {
        return unkeyed(name, -4, since, summary).key(1).access("OW update").countedKeys(2, "RO access")
                .flags(WRITE, DENYOOM).traits(CommandTrait.ALL_OR_NOTHING);
    }

    private static void run(CommandContext context, Operation operation, Use use) {
        int number = use == Use.STORE ? 2 : 1;
        if (!context.requireLong(number)) {
            return;
        }
        long sets = context.longValue();
        if (sets < 1) {
            context.reply().error("ERR at least 1 input key is needed for '" + context.spec().fullName() + "' command");
            return;
        }
        if (sets > context.argumentCount() - number - 1) {
            context.syntaxError();
            return;
        }
        SortedSetAlgebra algebra = SortedSets.of(context).algebra();
        try {
            Options options = new Options(operation, use, (int) sets);
            if (algebra.open(context, number - 1, (int) sets) && options.read(context, number + 1 + (int) sets)) {
                algebra.run(context, operation, options.weights, options.aggregate);
                finish(context, use, options);
            }
        } finally {
            algebra.release();
        }
    }

    private static void finish(CommandContext context, Use use, Options options) {
        MemberList members = SortedSets.of(context).members();
        if (use == Use.COUNT) {
            context.reply().integer(options.limit == 0 ? members.count() : Math.min(options.limit, members.count()));
            return;
        }
        members.sort(context.cache(), MemberList.Order.SCORE);
        if (use == Use.STORE) {
            SortedSets.of(context).result().store(context, context.keyAt(0), members, switch (options.operation) {
                case UNION -> KeyEvent.ZUNIONSTORE;
                case INTERSECTION -> KeyEvent.ZINTERSTORE;
                case DIFFERENCE -> KeyEvent.ZDIFFSTORE;
            });
            context.reply().integer(members.count());
            return;
        }
        ScoredReplies.head(context.reply(), members.count(), options.withScores);
        for (int place = 0; place < members.count(); place++) {
            int entry = members.inOrder(place);
            ScoredReplies.member(context.reply(), members.address(entry), members.length(entry), members.score(entry),
                    options.withScores);
        }
    }

    /** The options after the keys. Confined to one command. */
    private static final class Options {
        private final Operation operation;
        private final Use use;
        private final int sets;
        private int weights;
        private Aggregate aggregate = Aggregate.SUM;
        private boolean withScores;
        private long limit;

        Options(Operation operation, Use use, int sets) {
            this.operation = operation;
            this.use = use;
            this.sets = sets;
        }

        /** @return false after an error was replied */
        private boolean read(CommandContext context, int from) {
            boolean scored = operation != Operation.DIFFERENCE && use != Use.COUNT;
            int i = from;
            while (i < context.argumentCount()) {
                int left = context.argumentCount() - i;
                if (scored && left >= sets + 1 && context.argumentIs(i, "WEIGHTS")) {
                    if (!readWeights(context, i + 1)) {
                        return false;
                    }
                    i += sets + 1;
                } else if (scored && left >= 2 && context.argumentIs(i, "AGGREGATE")) {
                    if (!readAggregate(context, i + 1)) {
                        return false;
                    }
                    i += 2;
                } else if (use == Use.ANSWER && context.argumentIs(i, "WITHSCORES")) {
                    withScores = true;
                    i++;
                } else if (use == Use.COUNT && left >= 2 && context.argumentIs(i, "LIMIT")) {
                    if (!context.isLong(i + 1) || context.longValue() < 0) {
                        context.reply().error("ERR LIMIT can't be negative");
                        return false;
                    }
                    limit = context.longValue();
                    i += 2;
                } else {
                    context.syntaxError();
                    return false;
                }
            }
            return true;
        }

        private boolean readWeights(CommandContext context, int first) {
            weights = first;
            for (int i = first; i < first + sets; i++) {
                if (!context.requireDouble(i, "ERR weight value is not a float")) {
                    return false;
                }
            }
            return true;
        }

        private boolean readAggregate(CommandContext context, int argument) {
            if (context.argumentIs(argument, "SUM")) {
                aggregate = Aggregate.SUM;
            } else if (context.argumentIs(argument, "MIN")) {
                aggregate = Aggregate.MIN;
            } else if (context.argumentIs(argument, "MAX")) {
                aggregate = Aggregate.MAX;
            } else {
                context.syntaxError();
                return false;
            }
            return true;
        }
    }
}
