package io.varve.server.command.sortedset;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.sortedset.SortedSetRange.Kind;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Sorted set commands that look up, count and remove members. Immutable: static handlers.
 *
 * @see SortedSetAddCommands
 * @see SortedSetRangeCommands
 * @see SortedSetPopCommands
 * @see SortedSetWalkCommands
 * @see SortedSetAlgebraCommands
 */
public final class SortedSetCommands {
    private SortedSetCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        SortedSetAddCommands.addTo(table);
        table.add(sortedSet("zrem", -3, "1.2.0", "Removes members from a sorted set").access("RW delete")
                .flags(WRITE, FAST)
                .complexity("O(M*log(N)) where N is the size of the sorted set and M the number of members removed")
                .handler(SortedSetCommands::rem));
        removals(table);
        table.add(sortedSet("zcard", 2, "1.2.0", "Returns the number of members of a sorted set").access("RO")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST).handler(SortedSetCommands::card));
        table.add(sortedSet("zcount", 4, "2.0.0", "Returns the number of members in a range of scores")
                .access("RO access").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .complexity("O(log(N))")
                .handler(context -> count(context, Kind.SCORE)));
        table.add(sortedSet("zlexcount", 4, "2.8.9", "Returns the number of members in a lexicographical range")
                .access("RO access").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .complexity("O(log(N))")
                .handler(context -> count(context, Kind.MEMBER)));
        table.add(sortedSet("zscore", 3, "1.2.0", "Returns the score of a member of a sorted set").access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST).handler(SortedSetCommands::score));
        table.add(sortedSet("zmscore", -3, "6.2.0", "Returns the scores of members of a sorted set")
                .access("RO access").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .complexity("O(N) where N is the number of members given")
                .handler(SortedSetCommands::mscore));
        table.add(sortedSet("zrank", -3, "2.0.0", "Returns the rank of a member, by ascending score")
                .access("RO access").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .complexity("O(log(N))")
                .handler(context -> rank(context, false)));
        table.add(sortedSet("zrevrank", -3, "2.0.0", "Returns the rank of a member, by descending score")
                .access("RO access").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .complexity("O(log(N))")
                .handler(context -> rank(context, true)));
        SortedSetRangeCommands.addTo(table);
        SortedSetPopCommands.addTo(table);
        SortedSetWalkCommands.addTo(table);
        SortedSetAlgebraCommands.addTo(table);
    }

    private static void removals(CommandTable.Builder table) {
        table.add(sortedSet("zremrangebyrank", 4, "2.0.0", "Removes the members in a range of ranks")
                .access("RW delete").flags(WRITE)
                .complexity("O(log(N)+M) where N is the size of the sorted set and M the number of members removed")
                .handler(context -> remrange(context, Kind.RANK)));
        table.add(sortedSet("zremrangebyscore", 4, "1.2.0", "Removes the members in a range of scores")
                .access("RW delete").flags(WRITE)
                .complexity("O(log(N)+M) where N is the size of the sorted set and M the number of members removed")
                .handler(context -> remrange(context, Kind.SCORE)));
        table.add(sortedSet("zremrangebylex", 4, "2.8.9", "Removes the members in a lexicographical range")
                .access("RW delete").flags(WRITE)
                .complexity("O(log(N)+M) where N is the size of the sorted set and M the number of members removed")
                .handler(context -> remrange(context, Kind.MEMBER)));
    }

    static CommandBuilder sortedSet(String name, int arity, String since, String summary) {
        return unkeyed(name, arity, since, summary).key(1);
    }

    /** Describes a command whose keys the caller declares. */
    static CommandBuilder unkeyed(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).categories("@sortedset").group("sorted-set").since(since)
                .summary(summary);
    }

    // --- remove

    private static void rem(CommandContext context) {
        SortedSetValue set = SortedSets.of(context).set();
        if (set.openForWriting(context, context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        int removed = 0;
        for (int i = 2; i < context.argumentCount() && set.size() > 0; i++) {
            if (set.find(context.argumentAddress(i), context.argumentLength(i))) {
                if (removed == 0) {
                    set.prepare();
                }
                set.remove();
                removed++;
            }
        }
        if (removed > 0) {
            set.finish();
            context.events().emitRemoval(KeyEvent.ZREM, context.keyAt(0), set.size() == 0);
            context.countChanges(removed);
        }
        context.reply().integer(removed);
    }

    private static void remrange(CommandContext context, Kind kind) {
        SortedSetRange range = SortedSets.of(context).range();
        if (!range.read(context, kind, 2, false)) {
            return;
        }
        SortedSetValue set = SortedSets.of(context).set();
        if (set.openForWriting(context, context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        range.resolve(set, false);
        long removed = range.to() - range.from();
        if (removed > 0) {
            set.prepare();
            set.removeRange(range.from(), range.to());
            set.finish();
            context.events().emitRemoval(switch (kind) {
                case RANK -> KeyEvent.ZREMRANGEBYRANK;
                case SCORE -> KeyEvent.ZREMRANGEBYSCORE;
                case MEMBER -> KeyEvent.ZREMRANGEBYLEX;
            }, context.keyAt(0), set.size() == 0);
            context.countChanges(removed);
        }
        context.reply().integer(removed);
    }

    // --- read

    private static void card(CommandContext context) {
        SortedSetValue set = SortedSets.of(context).set();
        if (set.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            context.reply().integer(set.size());
        }
    }

    private static void count(CommandContext context, Kind kind) {
        SortedSetRange range = SortedSets.of(context).range();
        SortedSetValue set = SortedSets.of(context).set();
        if (range.read(context, kind, 2, false) && set.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            range.resolve(set, false);
            context.reply().integer(range.to() - range.from());
        }
    }

    private static void score(CommandContext context) {
        SortedSetValue set = SortedSets.of(context).set();
        if (set.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            replyScore(context, set, 2);
        }
    }

    private static void mscore(CommandContext context) {
        SortedSetValue set = SortedSets.of(context).set();
        if (set.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            context.reply().array(context.argumentCount() - 2);
            for (int i = 2; i < context.argumentCount(); i++) {
                replyScore(context, set, i);
            }
        }
    }

    private static void replyScore(CommandContext context, SortedSetValue set, int argument) {
        if (set.find(context.argumentAddress(argument), context.argumentLength(argument))) {
            context.reply().doubleValue(set.score());
        } else {
            context.reply().nil();
        }
    }

    private static void rank(CommandContext context, boolean reversed) {
        if (context.argumentCount() > 4) {
            context.wrongArgumentCount();
            return;
        }
        boolean withScore = context.argumentCount() == 4;
        if (withScore && !context.argumentIs(3, "WITHSCORE")) {
            context.syntaxError();
            return;
        }
        SortedSetValue set = SortedSets.of(context).set();
        if (set.open(context, context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        if (!set.find(context.argumentAddress(2), context.argumentLength(2))) {
            if (withScore) {
                context.reply().nilArray();
            } else {
                context.reply().nil();
            }
            return;
        }
        if (withScore) {
            context.reply().array(2);
        }
        context.reply().integer(reversed ? set.size() - 1 - set.rank() : set.rank());
        if (withScore) {
            context.reply().doubleValue(set.score());
        }
    }
}
