package io.varve.proxy.member;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.resp.Reply;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a request at a member. Confined to an event loop.
 *
 * <p>A request may consist of several commands, such as MULTI to EXEC. The reply of the last one is the result; of the
 * leading replies only the first error is kept.
 */
public final class MemberCall {
    private final ByteBuf request;
    private final Outcome outcome;
    private final boolean isTimed;
    private int leading;
    private @Nullable String leadingError;
    private boolean isTransaction;
    private boolean isHeld;
    private long sentNanos;

    /** What becomes of a call. Confined to the event loop. */
    public interface Outcome {
        /**
         * The member has replied. Takes over the reply.
         *
         * @param leadingError the first error among the replies before it; null if there was none
         */
        void replied(ByteBuf reply, @Nullable String leadingError);

        /** There will be no reply. */
        void failed(MemberFailure failure);

        /** The call waits for the member's connection. */
        default void held() {}

        /** The call that was held is sent or has failed. */
        default void released() {}
    }

    /**
     * @param request stays the caller's, who keeps it until the outcome
     * @param leading number of replies before the result
     * @param isTimed whether it fails if no reply comes in time
     */
    public MemberCall(ByteBuf request, int leading, boolean isTimed, Outcome outcome) {
        this.request = request;
        this.leading = leading;
        this.isTimed = isTimed;
        this.outcome = outcome;
    }

    /** Its commands are a transaction, from MULTI to EXEC, which must not run in parts. */
    public MemberCall asTransaction() {
        isTransaction = true;
        return this;
    }

    boolean isTransaction() {
        return isTransaction;
    }

    /** The first error among the leading replies; null if there was none. */
    @Nullable
    String leadingError() {
        return leadingError;
    }

    ByteBuf request() {
        return request;
    }

    void hold() {
        isHeld = true;
        outcome.held();
    }

    private void release() {
        if (isHeld) {
            isHeld = false;
            outcome.released();
        }
    }

    void sent(long now) {
        sentNanos = now;
        release();
    }

    long sentNanos() {
        return sentNanos;
    }

    /** Whether the member replies at once: the call does not wait for other clients. */
    boolean isTimed() {
        return isTimed;
    }

    boolean isOverdue(long now, long limitNanos) {
        return isTimed && now - sentNanos > limitNanos;
    }

    /** Takes a reply if it is a leading one. */
    boolean takesLeading(ByteBuf reply) {
        if (leading == 0) {
            return false;
        }
        leading--;
        if (leadingError == null && Reply.isError(reply)) {
            leadingError = Reply.of(reply).textOrEmpty();
        }
        reply.release();
        return true;
    }

    void replied(ByteBuf reply) {
        outcome.replied(reply, leadingError);
    }

    /** It is not sent, and has this reply. */
    void refused(ByteBuf error) {
        release();
        outcome.replied(error, null);
    }

    void failed(MemberFailure failure) {
        release();
        outcome.failed(failure);
    }
}
