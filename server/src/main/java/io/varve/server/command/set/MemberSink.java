package io.varve.server.command.set;

/** Takes the members of a walk over a set, or of what several sets have in common, one by one. */
@FunctionalInterface
interface MemberSink {
    /**
     * Takes a member.
     *
     * @param set whose cursor is at it
     * @return whether the walk is to go on
     */
    boolean take(SetView set);
}
