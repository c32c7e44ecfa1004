package io.varve.server.command.sortedset;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.sortedset.SortedSetRange.Kind;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * Commands on sorted sets: those that look members up, count them and remove them. Immutable: static handlers.
 *
 * @see SortedSetAddCommands
 * @see SortedSetRangeCommands
 * @see SortedSetPopCommands
 * @see SortedSetWalkCommands
 * @see SortedSetAlgebraCommands
 */
public final class SortedSetCommands {
    private SortedSetCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        SortedSetAddCommands.addTo(table);
        table.add(sortedSet("zrem", -3, "1.2.0", "Removes members from a sorted set").access("RW delete")
                .flags(WRITE, FAST).complexity("O(M*log(N)) with M the members named").handler(SortedSetCommands::rem));
        removals(table);
        table.add(sortedSet("zcard", 2, "1.2.0", "Counts the members of a sorted set").access("RO")
                .flags(READONLY, FAST).handler(SortedSetCommands::card));
        table.add(sortedSet("zcount", 4, "2.0.0", "Counts the members of a sorted set between two scores")
                .access("RO access").flags(READONLY, FAST).complexity("O(log(N))")
                .handler(call -> count(call, Kind.SCORE)));
        table.add(sortedSet("zlexcount", 4, "2.8.9", "Counts the members of a sorted set between two members")
                .access("RO access").flags(READONLY, FAST).complexity("O(log(N))")
                .handler(call -> count(call, Kind.MEMBER)));
        table.add(sortedSet("zscore", 3, "1.2.0", "Answers the score of a member of a sorted set").access("RO access")
                .flags(READONLY, FAST).handler(SortedSetCommands::score));
        table.add(sortedSet("zmscore", -3, "6.2.0", "Answers the scores of several members of a sorted set")
                .access("RO access").flags(READONLY, FAST).complexity("O(N) in the members named")
                .handler(SortedSetCommands::mscore));
        table.add(sortedSet("zrank", -3, "2.0.0", "Tells how many members of a sorted set are in front of one")
                .access("RO access").flags(READONLY, FAST).complexity("O(log(N))").handler(call -> rank(call, false)));
        table.add(sortedSet("zrevrank", -3, "2.0.0", "Tells how many members of a sorted set are behind one")
                .access("RO access").flags(READONLY, FAST).complexity("O(log(N))").handler(call -> rank(call, true)));
        SortedSetRangeCommands.addTo(table);
        SortedSetPopCommands.addTo(table);
        SortedSetWalkCommands.addTo(table);
        SortedSetAlgebraCommands.addTo(table);
    }

    private static void removals(CommandTable.Builder table) {
        table.add(sortedSet("zremrangebyrank", 4, "2.0.0", "Removes the members of a sorted set between two ranks")
                .access("RW delete").flags(WRITE).complexity("O(log(N)+M) with M the members removed")
                .handler(call -> remrange(call, Kind.RANK)));
        table.add(sortedSet("zremrangebyscore", 4, "1.2.0", "Removes the members of a sorted set between two scores")
                .access("RW delete").flags(WRITE).complexity("O(log(N)+M) with M the members removed")
                .handler(call -> remrange(call, Kind.SCORE)));
        table.add(sortedSet("zremrangebylex", 4, "2.8.9", "Removes the members of a sorted set between two members")
                .access("RW delete").flags(WRITE).complexity("O(log(N)+M) with M the members removed")
                .handler(call -> remrange(call, Kind.MEMBER)));
    }

    static CommandBuilder sortedSet(String name, int arity, String since, String summary) {
        return unkeyed(name, arity, since, summary).key(1);
    }

    /** One whose keys are told elsewhere. */
    static CommandBuilder unkeyed(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).categories("@sortedset").group("sorted-set").since(since)
                .summary(summary);
    }

    // --- remove

    private static void rem(Invocation call) {
        SortedSetValue set = SortedSets.of(call).set();
        if (set.openForWriting(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        int removed = 0;
        for (int i = 2; i < call.argumentCount() && set.size() > 0; i++) {
            if (set.find(call.argumentAddress(i), call.argumentLength(i))) {
                if (removed == 0) {
                    set.prepare();
                }
                set.remove();
                removed++;
            }
        }
        if (removed > 0) {
            set.finish();
            call.events().tellRemoval(KeyEvent.ZREM, call.keyAt(0), set.size() == 0);
            call.countChanges(removed);
        }
        call.reply().integer(removed);
    }

    private static void remrange(Invocation call, Kind kind) {
        SortedSetRange range = SortedSets.of(call).range();
        if (!range.read(call, kind, 2, false)) {
            return;
        }
        SortedSetValue set = SortedSets.of(call).set();
        if (set.openForWriting(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        range.lookIn(set, false);
        long removed = range.to() - range.from();
        if (removed > 0) {
            set.prepare();
            set.removeRange(range.from(), range.to());
            set.finish();
            call.events().tellRemoval(switch (kind) {
                case RANK -> KeyEvent.ZREMRANGEBYRANK;
                case SCORE -> KeyEvent.ZREMRANGEBYSCORE;
                case MEMBER -> KeyEvent.ZREMRANGEBYLEX;
            }, call.keyAt(0), set.size() == 0);
            call.countChanges(removed);
        }
        call.reply().integer(removed);
    }

    // --- look

    private static void card(Invocation call) {
        SortedSetValue set = SortedSets.of(call).set();
        if (set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().integer(set.size());
        }
    }

    private static void count(Invocation call, Kind kind) {
        SortedSetRange range = SortedSets.of(call).range();
        SortedSetValue set = SortedSets.of(call).set();
        if (range.read(call, kind, 2, false) && set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            range.lookIn(set, false);
            call.reply().integer(range.to() - range.from());
        }
    }

    private static void score(Invocation call) {
        SortedSetValue set = SortedSets.of(call).set();
        if (set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            replyScore(call, set, 2);
        }
    }

    private static void mscore(Invocation call) {
        SortedSetValue set = SortedSets.of(call).set();
        if (set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().array(call.argumentCount() - 2);
            for (int i = 2; i < call.argumentCount(); i++) {
                replyScore(call, set, i);
            }
        }
    }

    private static void replyScore(Invocation call, SortedSetValue set, int argument) {
        if (set.find(call.argumentAddress(argument), call.argumentLength(argument))) {
            call.reply().doubleValue(set.score());
        } else {
            call.reply().nil();
        }
    }

    private static void rank(Invocation call, boolean reversed) {
        if (call.argumentCount() > 4) {
            call.wrongArgumentCount();
            return;
        }
        boolean withScore = call.argumentCount() == 4;
        if (withScore && !call.argumentIs(3, "WITHSCORE")) {
            call.syntaxError();
            return;
        }
        SortedSetValue set = SortedSets.of(call).set();
        if (set.open(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        if (!set.find(call.argumentAddress(2), call.argumentLength(2))) {
            if (withScore) {
                call.reply().nilArray();
            } else {
                call.reply().nil();
            }
            return;
        }
        if (withScore) {
            call.reply().array(2);
        }
        call.reply().integer(reversed ? set.size() - 1 - set.rank() : set.rank());
        if (withScore) {
            call.reply().doubleValue(set.score());
        }
    }
}
