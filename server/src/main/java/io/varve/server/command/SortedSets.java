package io.varve.server.command;

/** What commands on sorted sets work with. Confined to its event loop; reused from command to command. */
final class SortedSets {
    private final SortedSetValue set = new SortedSetValue();
    private final SortedSetAddition addition = new SortedSetAddition(set);
    private final SortedSetRange range = new SortedSetRange();
    private final SortedSetRangeRequest rangeRequest = new SortedSetRangeRequest();
    private final MemberList members = new MemberList();
    private final MemberIndex index = new MemberIndex(members);
    private final SortedSetAlgebra algebra = new SortedSetAlgebra(members, index);
    private final SortedSetResult result = new SortedSetResult();

    /** The set of a command. */
    SortedSetValue set() {
        return set;
    }

    /** Puts members into {@link #set}. */
    SortedSetAddition addition() {
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
    MemberList members() {
        return members;
    }

    /** What several sets come to, noted in {@link #members}; who uses it releases it. */
    SortedSetAlgebra algebra() {
        return algebra;
    }

    /** Puts what is noted under a key. */
    SortedSetResult result() {
        return result;
    }
}
