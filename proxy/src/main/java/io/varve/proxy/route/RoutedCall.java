package io.varve.proxy.route;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.member.MemberCall;
import io.varve.proxy.member.MemberFailure;
import io.varve.proxy.member.MemberLane;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.resp.ReplyTarget;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way to the member of its slot, with its attempts. Confined to an event loop.
 *
 * <p>It follows MOVED and ASK, and repeats after TRYAGAIN and CLUSTERDOWN, a bounded number of times: such a request
 * has not run. After the loss of its connection a read is repeated once; a write may have run, so its client gets an
 * error. A request that was not sent is repeated only in a cluster, where another member may take the slot over.
 */
public final class RoutedCall implements MemberCall.Outcome {
    /** Maximum number of redirections and pauses. */
    private static final int MAX_DETOURS = 8;
    private static final long FIRST_PAUSE_MILLIS = 10;
    private static final String ABORTED = "EXECABORT";

    private final Router router;
    private final Origin origin;
    private final ByteBuf request;
    private final int slot;
    private final @Nullable Endpoint fixed;
    private final boolean isRead;
    private final int leading;
    private final ReplyTarget target;
    private @Nullable Endpoint redirected;
    private @Nullable Endpoint current;
    private boolean isAsking;
    private boolean isRepeated;
    private int detours;

    /** The client that a request comes from. Confined to the event loop. */
    public interface Origin {
        /** Its number, which selects the lanes. */
        long id();

        /** The protocol, 2 or 3, of the replies. */
        int protocol();

        /** One more of its requests waits to be sent: it should send no more for now. */
        void held();

        /** One of the requests that waited does so no more. */
        void released();
    }

    private RoutedCall(Router router, Origin origin, ByteBuf request, int slot, @Nullable Endpoint fixed,
            boolean isRead, int leading, ReplyTarget target) {
        this.router = router;
        this.origin = origin;
        this.request = request;
        this.slot = slot;
        this.fixed = fixed;
        this.isRead = isRead;
        this.leading = leading;
        this.target = target;
    }

    /**
     * Sends a request to the member of a slot.
     *
     * @param request taken over
     * @param isRead whether it may run twice
     * @param leading number of replies before the result: of a transaction, those before the one of EXEC
     */
    public static void send(Router router, Origin origin, ByteBuf request, int slot, boolean isRead, int leading,
            ReplyTarget target) {
        new RoutedCall(router, origin, request, slot, null, isRead, leading, target).attempt();
    }

    /** Sends a request, which is taken over, to one member, whatever slots it has. */
    public static void sendTo(Router router, Origin origin, ByteBuf request, Endpoint member, boolean isRead,
            ReplyTarget target) {
        new RoutedCall(router, origin, request, 0, member, isRead, 0, target).attempt();
    }

    private void attempt() {
        Endpoint to = redirected != null ? redirected : fixed;
        MemberLane lane = to == null ? router.lane(slot, origin) : router.lane(to, origin);
        if (lane == null) {
            current = null;
            if (!pause()) {
                fail(RouteErrors.noOwner(router.table(), slot));
            }
            return;
        }
        current = lane.endpoint();
        boolean asks = isAsking;
        ByteBuf sent = asks ? Asking.before(request) : request;
        isAsking = false;
        redirected = null;
        MemberCall call = asks
                ? new MemberCall(sent, leading + 1, true, new Asked(sent))
                : new MemberCall(sent, leading, true, this);
        lane.submit(leading > 0 ? call.asTransaction() : call);
    }

    /** Releases the request with ASKING after its outcome. Confined to the event loop. */
    private final class Asked implements MemberCall.Outcome {
        private final ByteBuf sent;

        Asked(ByteBuf sent) {
            this.sent = sent;
        }

        @Override
        public void replied(ByteBuf reply, @Nullable String leadingError) {
            sent.release();
            RoutedCall.this.replied(reply, leadingError);
        }

        @Override
        public void failed(MemberFailure failure) {
            sent.release();
            RoutedCall.this.failed(failure);
        }

        @Override
        public void held() {
            RoutedCall.this.held();
        }

        @Override
        public void released() {
            RoutedCall.this.released();
        }
    }

    @Override
    public void replied(ByteBuf reply, @Nullable String leadingError) {
        Endpoint from = current;
        if (from != null && Reply.isError(reply) && router.table().isClustered()) {
            Redirection redirection = redirection(reply, leadingError, from);
            if (redirection != null && follow(redirection)) {
                reply.release();
                return;
            }
        }
        end(reply);
    }

    /** The target still reads the key in the request. */
    private void end(ByteBuf reply) {
        target.accept(reply);
        request.release();
    }

    /** A transaction that was redirected when its commands were queued says so in a leading reply. */
    private static @Nullable Redirection redirection(ByteBuf reply, @Nullable String leadingError, Endpoint from) {
        boolean isAborted = leadingError != null
                && Reply.of(reply).textOrEmpty().startsWith(ABORTED);
        return isAborted && leadingError != null
                ? Redirection.of(leadingError, from)
                : Redirection.of(reply, from);
    }

    private boolean follow(Redirection redirection) {
        if (redirection.kind() == Redirection.Kind.LATER) {
            return pause();
        }
        if (detours >= MAX_DETOURS || fixed != null) {
            return false;
        }
        detours++;
        redirected = redirection.to();
        isAsking = redirection.kind() == Redirection.Kind.ASK;
        if (isAsking) {
            router.statistics().asked.increment();
        } else {
            router.statistics().moved.increment();
            router.refresh(redirection.to());
        }
        attempt();
        return true;
    }

    /** Repeats after a pause that doubles. @return false if there were enough attempts */
    private boolean pause() {
        if (detours >= MAX_DETOURS) {
            return false;
        }
        long millis = FIRST_PAUSE_MILLIS << detours;
        detours++;
        router.statistics().delayed.increment();
        router.refresh(null);
        held();
        router.later(() -> {
            released();
            attempt();
        }, millis);
        return true;
    }

    @Override
    public void failed(MemberFailure failure) {
        boolean isClustered = router.table().isClustered();
        router.refresh(null);
        if (failure == MemberFailure.UNREACHABLE) {
            if (isClustered && fixed == null && pause()) {
                return;
            }
        } else if (isRead && !isRepeated) {
            isRepeated = true;
            router.statistics().retriedReads.increment();
            attempt();
            return;
        }
        fail(RouteErrors.of(failure, current));
    }

    private void fail(String error) {
        router.statistics().failed.increment();
        end(Unpooled.copiedBuffer("-" + error + "\r\n", StandardCharsets.UTF_8));
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
