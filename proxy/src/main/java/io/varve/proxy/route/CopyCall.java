package io.varve.proxy.route;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.member.MemberCall;
import io.varve.proxy.member.MemberFailure;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.resp.ReplyTarget;
import org.jspecify.annotations.Nullable;

/**
 * A read on its way to a member that has a copy of its key. Confined to an event loop. If the member replies an error,
 * or not at all, the read goes to the owner. So do the client's other reads of copies that are in flight then, because
 * they could show an older value than the owner does.
 */
public final class CopyCall implements MemberCall.Outcome {
    private final Router router;
    private final RoutedCall.Origin origin;
    private final ByteBuf request;
    private final int slot;
    private final Reader reader;
    private final ReplyTarget target;

    /** The client, as a reader of copies. Confined to the event loop. */
    public interface Reader {
        /** Whether it takes what copies say; false: what it has read at owners could be newer. */
        boolean readsCopies();

        /** A copy does not serve a read, which goes to the owner. */
        void leftCopy();
    }

    private CopyCall(Router router, RoutedCall.Origin origin, ByteBuf request, int slot, Reader reader,
            ReplyTarget target) {
        this.router = router;
        this.origin = origin;
        this.request = request;
        this.slot = slot;
        this.reader = reader;
        this.target = target;
    }

    /** Sends a read, which is taken over, to a member that has a copy. */
    public static void send(Router router, RoutedCall.Origin origin, ByteBuf request, Endpoint holder, int slot,
            Reader reader, ReplyTarget target) {
        router.statistics().copyReads.increment();
        router.copyLane(holder, origin).submit(
                new MemberCall(request, 0, true, new CopyCall(router, origin, request, slot, reader, target)));
    }

    @Override
    public void replied(ByteBuf reply, @Nullable String leadingError) {
        if (Reply.isError(reply) || !reader.readsCopies()) {
            reply.release();
            toOwner();
        } else {
            target.accept(reply);
            request.release();
        }
    }

    @Override
    public void failed(MemberFailure failure) {
        toOwner();
    }

    private void toOwner() {
        router.statistics().copyFallbacks.increment();
        reader.leftCopy();
        RoutedCall.send(router, origin, request, slot, true, 0, target);
    }

    @Override
    public void held() {
        origin.held();
    }

    @Override
    public void released() {
        origin.released();
    }
}
