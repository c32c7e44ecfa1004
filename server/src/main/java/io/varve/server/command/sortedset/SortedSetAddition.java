package io.varve.server.command.sortedset;

import io.varve.server.command.CommandContext;
import io.varve.server.command.sortedset.SortedSetAddCommands.Scores;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.sortedset.SortedSetAddCommands.CH;
import static io.varve.server.command.sortedset.SortedSetAddCommands.GT;
import static io.varve.server.command.sortedset.SortedSetAddCommands.INCR;
import static io.varve.server.command.sortedset.SortedSetAddCommands.LT;
import static io.varve.server.command.sortedset.SortedSetAddCommands.NX;
import static io.varve.server.command.sortedset.SortedSetAddCommands.XX;

/**
 * Executes ZADD and its relatives: adds members and changes scores according to the options. Confined to its event
 * loop; reused from command to command, so it allocates nothing.
 */
public final class SortedSetAddition {
    /** The action for one member. */
    private enum Step {
        LEAVE, ADD, CHANGE,
        /** The new score equals the old one. */
        SAME, NOT_A_NUMBER
    }

    private final SortedSetValue set;
    private final Runnable writeOne = this::writeOne;
    private final Runnable writeMany = this::writeMany;
    private int flags;
    /** State for a single member. */
    private Step planned = Step.LEAVE;
    private double score;
    private long member;
    private int memberLength;
    /** State for several members. */
    private @org.jspecify.annotations.Nullable CommandContext context;
    private @org.jspecify.annotations.Nullable Scores scores;
    private int first;
    private int step;
    private int added;
    private int changed;

    SortedSetAddition(SortedSetValue set) {
        this.set = set;
    }

    /**
     * Adds and changes members, whose arguments have been validated, and replies.
     *
     * @param firstArgument the first argument of the first member
     * @param arguments number of arguments per member, the last of which is the member itself
     */
    public void run(CommandContext command, int options, int firstArgument, int arguments, Scores given) {
        if (set.openForWriting(command, command.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        flags = options;
        if (command.argumentCount() - firstArgument == arguments) {
            one(command, firstArgument + arguments - 1, given.at(command, firstArgument));
            return;
        }
        context = command;
        scores = given;
        first = firstArgument;
        step = arguments;
        many(command, given);
    }

    private boolean has(int flag) {
        return (flags & flag) != 0;
    }

    private void one(CommandContext command, int memberArgument, double given) {
        member = command.argumentAddress(memberArgument);
        memberLength = command.argumentLength(memberArgument);
        boolean present = set.find(member, memberLength);
        score = present && has(INCR) ? set.score() + given : given;
        planned = step(present, score);
        if (planned == Step.NOT_A_NUMBER) {
            command.reply().error("ERR resulting score is not a number (NaN)");
            return;
        }
        boolean writes = planned == Step.ADD || planned == Step.CHANGE;
        if (writes) {
            if (planned == Step.ADD) {
                set.plan(memberLength);
            }
            set.change(writeOne, 1, memberLength);
            command.events().emit(has(INCR) ? KeyEvent.ZINCR : KeyEvent.ZADD, command.keyAt(0));
            command.countChanges(1);
        }
        if (!has(INCR)) {
            command.reply().integer(planned == Step.ADD || planned == Step.CHANGE && has(CH) ? 1 : 0);
        } else if (planned == Step.LEAVE) {
            command.reply().nil();
        } else {
            command.reply().doubleValue(score);
        }
    }

    private void writeOne() {
        write(planned, score, member, memberLength);
    }

    private void many(CommandContext command, Scores given) {
        boolean changes = false;
        int longest = 0;
        for (int i = first; i < command.argumentCount(); i += step) {
            int length = command.argumentLength(i + step - 1);
            longest = Math.max(longest, length);
            boolean present = set.find(command.argumentAddress(i + step - 1), length);
            switch (step(present, given.at(command, i))) {
                case ADD -> {
                    // A repeated member is planned twice, so the sum is an upper bound.
                    set.plan(length);
                    changes = true;
                }
                case CHANGE -> changes = true;
                case LEAVE, SAME, NOT_A_NUMBER -> {
                }
            }
        }
        added = 0;
        changed = 0;
        if (changes) {
            set.change(writeMany, (command.argumentCount() - first) / step, longest);
            command.events().emit(KeyEvent.ZADD, command.keyAt(0));
            command.countChanges(added + changed);
        }
        command.reply().integer(has(CH) ? added + changed : added);
    }

    private void writeMany() {
        CommandContext command = java.util.Objects.requireNonNull(context);
        Scores given = java.util.Objects.requireNonNull(scores);
        for (int i = first; i < command.argumentCount(); i += step) {
            long address = command.argumentAddress(i + step - 1);
            int length = command.argumentLength(i + step - 1);
            double to = given.at(command, i);
            Step what = step(set.find(address, length), to);
            write(what, to, address, length);
            added += what == Step.ADD ? 1 : 0;
            changed += what == Step.CHANGE ? 1 : 0;
        }
    }

    private void write(Step what, double to, long address, int length) {
        switch (what) {
            case ADD -> set.add(to, address, length);
            case CHANGE -> set.score(to, address, length);
            case LEAVE, SAME, NOT_A_NUMBER -> {
            }
        }
    }

    /** @param present whether the member exists; the cursor is then at it */
    private Step step(boolean present, double to) {
        if (!present) {
            return has(XX) ? Step.LEAVE : Step.ADD;
        }
        if (has(NX)) {
            return Step.LEAVE;
        }
        if (Double.isNaN(to)) {
            return Step.NOT_A_NUMBER;
        }
        double old = set.score();
        if (has(GT) && to <= old || has(LT) && to >= old) {
            return Step.LEAVE;
        }
        return to == old ? Step.SAME : Step.CHANGE;
    }
}
