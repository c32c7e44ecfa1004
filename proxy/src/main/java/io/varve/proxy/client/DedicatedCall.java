package io.varve.proxy.client;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.member.MemberCall;
import io.varve.proxy.member.MemberFailure;
import org.jspecify.annotations.Nullable;

/** A call on a client's own lane, which ends in one of two ways. Confined to the client's event loop. */
final class DedicatedCall implements MemberCall.Outcome {
    private final ByteBuf request;
    private final Replied onReply;
    private final Failed onFailure;

    /** Takes over the reply. */
    @FunctionalInterface
    interface Replied {
        void reply(ByteBuf reply, @Nullable String leadingError);
    }

    /** Learns that there is no reply. */
    @FunctionalInterface
    interface Failed {
        void failed(MemberFailure failure);
    }

    private DedicatedCall(ByteBuf request, Replied onReply, Failed onFailure) {
        this.request = request;
        this.onReply = onReply;
        this.onFailure = onFailure;
    }

    /**
     * A call that releases its request at its end.
     *
     * @param leading number of replies before the result
     */
    static MemberCall of(ByteBuf request, int leading, boolean isTimed, Replied onReply, Failed onFailure) {
        return new MemberCall(request, leading, isTimed, new DedicatedCall(request, onReply, onFailure));
    }

    @Override
    public void replied(ByteBuf reply, @Nullable String leadingError) {
        request.release();
        onReply.reply(reply, leadingError);
    }

    @Override
    public void failed(MemberFailure failure) {
        request.release();
        onFailure.failed(failure);
    }
}
