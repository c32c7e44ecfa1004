package io.varve.server.command.sortedset;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.value.MemberIndex;
import io.varve.server.command.value.MemberList;

/** Reusable state of sorted set commands. Confined to its event loop; reused from command to command. */
public final class SortedSets {
    private static final CommandScratch<SortedSets> SCRATCH = CommandScratch.madeBy(_ -> new SortedSets());

    private final SortedSetValue set = new SortedSetValue();
    private final SortedSetAddition addition = new SortedSetAddition(set);
    private final SortedSetRange range = new SortedSetRange();
    private final SortedSetRangeRequest rangeRequest = new SortedSetRangeRequest();
    private final MemberList members = new MemberList();
    private final MemberIndex index = new MemberIndex(members);
    private final SortedSetAlgebra algebra = new SortedSetAlgebra(members, index);
    private final SortedSetResult result = new SortedSetResult();

    /** The instance of a context. */
    public static SortedSets of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /** The command's set. */
    public SortedSetValue set() {
        return set;
    }

    /** Adds members to {@link #set}. */
    public SortedSetAddition addition() {
        return addition;
    }

    /** The range that a command uses. */
    SortedSetRange range() {
        return range;
    }

    /** The parsed range arguments of a command. */
    SortedSetRangeRequest rangeRequest() {
        return rangeRequest;
    }

    /** Members that a command collects; the user releases them. */
    public MemberList members() {
        return members;
    }

    /** The set operations, with results in {@link #members}; the user releases them. */
    SortedSetAlgebra algebra() {
        return algebra;
    }

    /** Stores collected members under a key. */
    public SortedSetResult result() {
        return result;
    }
}
