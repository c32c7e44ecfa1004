package io.varve.server.command.set;

/**
 * Receives the members of a set, or of a set operation's result, one by one. Called on the event loop of its command.
 */
@FunctionalInterface
interface MemberSink {
    /**
     * Receives a member.
     *
     * @param set the set whose cursor is at the member
     * @return whether to continue
     */
    boolean take(SetView set);
}
