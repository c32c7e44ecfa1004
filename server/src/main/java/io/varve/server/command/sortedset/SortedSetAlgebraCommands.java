package io.varve.server.command.sortedset;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.sortedset.SortedSetAlgebra.Aggregate;
import io.varve.server.command.sortedset.SortedSetAlgebra.Operation;
import io.varve.server.command.value.MemberList;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.sortedset.SortedSetCommands.unkeyed;

/** Commands on what several sorted sets come to. Immutable: static handlers. */
final class SortedSetAlgebraCommands {
    /** What becomes of the result. */
    private enum Use {
        ANSWER, STORE, COUNT
    }

    private SortedSetAlgebraCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(answer("zunion", "6.2.0", "Answers the union of sorted sets").complexity("O(N)+O(M*log(M))")
                .handler(call -> run(call, Operation.UNION, Use.ANSWER)));
        table.add(answer("zinter", "6.2.0", "Answers what sorted sets have in common")
                .complexity("O(N*K)+O(M*log(M)) with N the members of the smallest of K sets")
                .handler(call -> run(call, Operation.INTERSECTION, Use.ANSWER)));
        table.add(answer("zdiff", "6.2.0", "Answers the first of some sorted sets without the others")
                .complexity("O(L + (N-K)log(N)) with L all members").handler(
                        call -> run(call, Operation.DIFFERENCE, Use.ANSWER)));
        table.add(answer("zintercard", "7.0.0", "Counts what sorted sets have in common")
                .complexity("O(N*K) with N the members of the smallest of K sets")
                .handler(call -> run(call, Operation.INTERSECTION, Use.COUNT)));
        table.add(store("zunionstore", "2.0.0", "Puts the union of sorted sets under a key")
                .complexity("O(N)+O(M*log(M))").handler(call -> run(call, Operation.UNION, Use.STORE)));
        table.add(store("zinterstore", "2.0.0", "Puts what sorted sets have in common under a key")
                .complexity("O(N*K)+O(M*log(M)) with N the members of the smallest of K sets")
                .handler(call -> run(call, Operation.INTERSECTION, Use.STORE)));
        table.add(store("zdiffstore", "6.2.0", "Puts the first of some sorted sets without the others under a key")
                .complexity("O(L + (N-K)log(N)) with L all members").handler(
                        call -> run(call, Operation.DIFFERENCE, Use.STORE)));
    }

    private static CommandBuilder answer(String name, String since, String summary) {
        return unkeyed(name, -3, since, summary).countedKeys(1, "RO access").flags(READONLY).allOrNothing();
    }

    private static CommandBuilder store(String name, String since, String summary) {
        return unkeyed(name, -4, since, summary).key(1).access("OW update").countedKeys(2, "RO access")
                .flags(WRITE, DENYOOM).allOrNothing();
    }

    private static void run(Invocation call, Operation operation, Use use) {
        int number = use == Use.STORE ? 2 : 1;
        if (!call.requireLong(number)) {
            return;
        }
        long sets = call.longValue();
        if (sets < 1) {
            call.reply().error("ERR at least 1 input key is needed for '" + call.spec().fullName() + "' command");
            return;
        }
        if (sets > call.argumentCount() - number - 1) {
            call.syntaxError();
            return;
        }
        SortedSetAlgebra algebra = SortedSets.of(call).algebra();
        try {
            Options options = new Options(operation, use, (int) sets);
            if (algebra.open(call, number - 1, (int) sets) && options.read(call, number + 1 + (int) sets)) {
                algebra.run(call, operation, options.weights, options.aggregate);
                finish(call, use, options);
            }
        } finally {
            algebra.release();
        }
    }

    private static void finish(Invocation call, Use use, Options options) {
        MemberList members = SortedSets.of(call).members();
        if (use == Use.COUNT) {
            call.reply().integer(options.limit == 0 ? members.count() : Math.min(options.limit, members.count()));
            return;
        }
        members.sort(call.cache(), MemberList.Order.SCORE);
        if (use == Use.STORE) {
            SortedSets.of(call).result().store(call, call.keyAt(0), members, switch (options.operation) {
                case UNION -> KeyEvent.ZUNIONSTORE;
                case INTERSECTION -> KeyEvent.ZINTERSTORE;
                case DIFFERENCE -> KeyEvent.ZDIFFSTORE;
            });
            call.reply().integer(members.count());
            return;
        }
        ScoredReplies.head(call.reply(), members.count(), options.withScores);
        for (int place = 0; place < members.count(); place++) {
            int entry = members.inOrder(place);
            ScoredReplies.member(call.reply(), members.address(entry), members.length(entry), members.score(entry),
                    options.withScores);
        }
    }

    /** What stands behind the keys. Confined to one command. */
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
        private boolean read(Invocation call, int from) {
            boolean scored = operation != Operation.DIFFERENCE && use != Use.COUNT;
            int i = from;
            while (i < call.argumentCount()) {
                int left = call.argumentCount() - i;
                if (scored && left >= sets + 1 && call.argumentIs(i, "WEIGHTS")) {
                    if (!readWeights(call, i + 1)) {
                        return false;
                    }
                    i += sets + 1;
                } else if (scored && left >= 2 && call.argumentIs(i, "AGGREGATE")) {
                    if (!readAggregate(call, i + 1)) {
                        return false;
                    }
                    i += 2;
                } else if (use == Use.ANSWER && call.argumentIs(i, "WITHSCORES")) {
                    withScores = true;
                    i++;
                } else if (use == Use.COUNT && left >= 2 && call.argumentIs(i, "LIMIT")) {
                    if (!call.isLong(i + 1) || call.longValue() < 0) {
                        call.reply().error("ERR LIMIT can't be negative");
                        return false;
                    }
                    limit = call.longValue();
                    i += 2;
                } else {
                    call.syntaxError();
                    return false;
                }
            }
            return true;
        }

        private boolean readWeights(Invocation call, int first) {
            weights = first;
            for (int i = first; i < first + sets; i++) {
                if (!call.requireDouble(i, "ERR weight value is not a float")) {
                    return false;
                }
            }
            return true;
        }

        private boolean readAggregate(Invocation call, int argument) {
            if (call.argumentIs(argument, "SUM")) {
                aggregate = Aggregate.SUM;
            } else if (call.argumentIs(argument, "MIN")) {
                aggregate = Aggregate.MIN;
            } else if (call.argumentIs(argument, "MAX")) {
                aggregate = Aggregate.MAX;
            } else {
                call.syntaxError();
                return false;
            }
            return true;
        }
    }
}
