package io.varve.server.command.sortedset;

import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;
import io.varve.server.command.value.MemberIndex;
import io.varve.server.command.value.MemberList;

/** What commands on sorted sets work with. Confined to its event loop; reused from command to command. */
public final class SortedSets {
    private static final Workspace<SortedSets> WORKSPACE = Workspace.madeBy(_ -> new SortedSets());

    private final SortedSetValue set = new SortedSetValue();
    private final SortedSetAddition addition = new SortedSetAddition(set);
    private final SortedSetRange range = new SortedSetRange();
    private final SortedSetRangeRequest rangeRequest = new SortedSetRangeRequest();
    private final MemberList members = new MemberList();
    private final MemberIndex index = new MemberIndex(members);
    private final SortedSetAlgebra algebra = new SortedSetAlgebra(members, index);
    private final SortedSetResult result = new SortedSetResult();

    /** Those of an invocation. */
    public static SortedSets of(Invocation call) {
        return WORKSPACE.of(call);
    }

    /** The set of a command. */
    public SortedSetValue set() {
        return set;
    }

    /** Puts members into {@link #set}. */
    public SortedSetAddition addition() {
        return addition;
    }

    /** The part of a set that a command is about. */
    SortedSetRange range() {
        return range;
    }

    /** How a command wants it answered. */
    SortedSetRangeRequest rangeRequest() {
        return rangeRequest;
    }

    /** Members that a command notes; who uses it releases it. */
    public MemberList members() {
        return members;
    }

    /** What several sets come to, noted in {@link #members}; who uses it releases it. */
    SortedSetAlgebra algebra() {
        return algebra;
    }

    /** Puts what is noted under a key. */
    public SortedSetResult result() {
        return result;
    }
}
