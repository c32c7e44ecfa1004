package io.varve.server.command.sortedset;

import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.resp.DoubleReader;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.sortedset.SortedSetCommands.sortedSet;

/** Commands that put members into sorted sets and change their scores. Immutable: static handlers. */
public final class SortedSetAddCommands {
    /** Adds members that are not there, and changes none. */
    public static final int NX = 1;
    /** Changes members that are there, and adds none. */
    public static final int XX = 1 << 1;
    /** Changes scores that become greater. */
    static final int GT = 1 << 2;
    /** Changes scores that become less. */
    static final int LT = 1 << 3;
    /** Answers how many were changed too. */
    public static final int CH = 1 << 4;
    /** Adds to the score, and answers what it has become. */
    static final int INCR = 1 << 5;

    /** Where a member's score is. Immutable. */
    @FunctionalInterface
    public interface Scores {
        /** @param argument the first of those that tell of the member; they have been checked */
        double at(Invocation call, int argument);
    }

    private SortedSetAddCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(sortedSet("zadd", -4, "1.2.0", "Adds members to a sorted set, or changes their scores")
                .access("RW update").flags(WRITE, DENYOOM, FAST).complexity("O(log(N)) for each member")
                .handler(SortedSetAddCommands::add));
        table.add(sortedSet("zincrby", 4, "1.2.0", "Adds to the score of a member of a sorted set")
                .access("RW access update").flags(WRITE, DENYOOM, FAST).complexity("O(log(N))")
                .handler(SortedSetAddCommands::incrby));
    }

    private static void add(Invocation call) {
        addFrom(call, 2, 0);
    }

    /** As in Redis, ZINCRBY is ZADD with an option more: words of options are no numbers either. */
    private static void incrby(Invocation call) {
        addFrom(call, 2, INCR);
    }

    private static void addFrom(Invocation call, int firstOption, int given) {
        int flags = given;
        int first = firstOption;
        for (int flag = flag(call, first); flag != 0; flag = flag(call, first)) {
            flags |= flag;
            first++;
        }
        int pairs = call.argumentCount() - first;
        if (pairs == 0 || pairs % 2 != 0) {
            call.syntaxError();
            return;
        }
        String incompatible = incompatible(flags, pairs / 2);
        if (incompatible != null) {
            call.reply().error(incompatible);
            return;
        }
        for (int i = first; i < call.argumentCount(); i += 2) {
            if (!call.requireDouble(i)) {
                return;
            }
        }
        SortedSets.of(call).addition().run(call, flags, first, 2, SortedSetAddCommands::scoreAt);
    }

    private static double scoreAt(Invocation call, int argument) {
        return DoubleReader.parse(call.argumentAddress(argument), call.argumentLength(argument));
    }

    private static int flag(Invocation call, int argument) {
        if (argument >= call.argumentCount()) {
            return 0;
        }
        // Most often it is a score.
        int length = call.argumentLength(argument);
        if (length < 2 || length > 4) {
            return 0;
        }
        return call.argumentIs(argument, "NX")
                ? NX
                : call.argumentIs(argument, "XX")
                        ? XX
                        : call.argumentIs(argument, "CH")
                                ? CH
                                : call.argumentIs(argument, "GT")
                                        ? GT
                                        : call.argumentIs(argument, "LT")
                                                ? LT
                                                : call.argumentIs(argument, "INCR") ? INCR : 0;
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
