package io.varve.server.command.sortedset;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.resp.DoubleReader;

import static io.varve.server.command.sortedset.SortedSetCommands.sortedSet;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** Commands that add members to sorted sets and change their scores. Immutable: static handlers. */
public final class SortedSetAddCommands {
    /** Adds new members only. */
    public static final int NX = 1;
    /** Changes existing members only. */
    public static final int XX = 1 << 1;
    /** Changes a score only if it increases. */
    static final int GT = 1 << 2;
    /** Changes a score only if it decreases. */
    static final int LT = 1 << 3;
    /** Includes changed members in the reply. */
    public static final int CH = 1 << 4;
    /** Increments the score, and replies the new one. */
    static final int INCR = 1 << 5;

    /** Reads the score of a member. Immutable. */
    @FunctionalInterface
    public interface Scores {
        /** @param argument the first of the member's arguments, which have been validated */
        double at(CommandContext context, int argument);
    }

    private SortedSetAddCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(sortedSet("zadd", -4, "1.2.0", "Adds members to a sorted set, or updates their scores")
                .access("RW update").flags(WRITE, DENYOOM, FAST)
                .complexity("O(log(N)) for each member, where N is the size of the sorted set")
                .handler(SortedSetAddCommands::add));
        table.add(sortedSet("zincrby", 4, "1.2.0", "Increments the score of a member of a sorted set")
                .access("RW access update").flags(WRITE, DENYOOM, FAST).complexity("O(log(N))")
                .handler(SortedSetAddCommands::incrby));
    }

    private static void add(CommandContext context) {
        addFrom(context, 2, 0);
    }

    /** As in Redis, ZINCRBY is ZADD with an additional option, so option words are accepted here too. */
    private static void incrby(CommandContext context) {
        addFrom(context, 2, INCR);
    }

    private static void addFrom(CommandContext context, int firstOption, int given) {
        int flags = given;
        int first = firstOption;
        for (int flag = flag(context, first); flag != 0; flag = flag(context, first)) {
            flags |= flag;
            first++;
        }
        int pairs = context.argumentCount() - first;
        if (pairs == 0 || pairs % 2 != 0) {
            context.syntaxError();
            return;
        }
        String incompatible = incompatible(flags, pairs / 2);
        if (incompatible != null) {
            context.reply().error(incompatible);
            return;
        }
        for (int i = first; i < context.argumentCount(); i += 2) {
            if (!context.requireDouble(i)) {
                return;
            }
        }
        SortedSets.of(context).addition().run(context, flags, first, 2, SortedSetAddCommands::scoreAt);
    }

    private static double scoreAt(CommandContext context, int argument) {
        return DoubleReader.parse(context.argumentAddress(argument), context.argumentLength(argument));
    }

    private static int flag(CommandContext context, int argument) {
        if (argument >= context.argumentCount()) {
            return 0;
        }
        // Usually the argument is a score.
        int length = context.argumentLength(argument);
        if (length < 2 || length > 4) {
            return 0;
        }
        return context.argumentIs(argument, "NX")
                ? NX
                : context.argumentIs(argument, "XX")
                        ? XX
                        : context.argumentIs(argument, "CH")
                                ? CH
                                : context.argumentIs(argument, "GT")
                                        ? GT
                                        : context.argumentIs(argument, "LT")
                                                ? LT
                                                : context.argumentIs(argument, "INCR") ? INCR : 0;
    }

    private static @org.jspecify.annotations.Nullable String incompatible(int flags, int members) {
        if (has(flags, NX) && has(flags, XX)) {
            return "ERR XX and NX options at the same time are not compatible";
        }
        if (Integer.bitCount(flags & (GT | LT | NX)) > 1) {
            return "ERR GT, LT, and/or NX options at the same time are not compatible";
        }
        if (has(flags, INCR) && members > 1) {
            return "ERR INCR option supports a single increment-element pair";
        }
        return null;
    }

    private static boolean has(int flags, int flag) {
        return (flags & flag) != 0;
    }
}
