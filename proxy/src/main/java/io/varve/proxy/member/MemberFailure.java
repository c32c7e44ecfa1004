package io.varve.proxy.member;

/** Why a call has no reply. Immutable. */
public enum MemberFailure {
    /** It was not sent: there is no connection to the member. */
    UNREACHABLE,
    /** It was sent, and the connection broke before the reply: it may have run. */
    LOST,
    /** It was sent, and no reply came in time: it may have run, or may yet run. */
    TIMED_OUT;

    /** Whether the member may have run the call. */
    public boolean mayHaveRun() {
        return this != UNREACHABLE;
    }
}
