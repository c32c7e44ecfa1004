package io.varve.proxy.client;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.member.MemberFailure;
import io.varve.proxy.member.MemberLane;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.route.Asking;
import io.varve.proxy.route.Redirection;
import io.varve.proxy.route.RouteErrors;
import org.jspecify.annotations.Nullable;

/**
 * A command that may wait at its member, on a lane of its client's own, so that it delays no other client. Confined to
 * the client's event loop.
 *
 * <p>The client handles no further request meanwhile, as at a server. If the client goes, the lane closes, so that the
 * member serves the next one that waits.
 */
final class BlockingCommands {
    private static final int MAX_REDIRECTIONS = 5;
    private static final String NO_LANE = "ERR The proxy has no more connections for commands that wait"
            + " (max-dedicated-connections)";

    private final ProxyLoop loop;
    private final ClientConnection client;
    private @Nullable MemberLane lane;

    BlockingCommands(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
    }

    /** Runs a request, which is taken over. */
    void run(ByteBuf request, int slot, PendingReply pending) {
        client.pause();
        Endpoint owner = loop.router().table().owner(slot);
        if (owner == null) {
            request.release();
            loop.router().failed();
            end(pending, error(RouteErrors.noOwner(loop.router().table(), slot)));
        } else {
            attempt(request, owner, false, 0, pending);
        }
    }

    private void attempt(ByteBuf request, Endpoint member, boolean isAsking, int redirections, PendingReply pending) {
        MemberLane own = loop.router().members().dedicate(member, client.protocol());
        lane = own;
        if (own == null) {
            request.release();
            end(pending, error(NO_LANE));
            return;
        }
        ByteBuf sent = isAsking ? Asking.before(request) : request.retainedDuplicate();
        own.submit(DedicatedCall.of(sent, isAsking ? 1 : 0, false, (reply, _) -> {
            loop.router().members().giveBack(own);
            Redirection redirection = Reply.isError(reply) && loop.router().table().isClustered()
                    ? Redirection.of(reply, member)
                    : null;
            Endpoint to = redirection == null || redirections >= MAX_REDIRECTIONS ? null : redirection.to();
            if (redirection != null && to != null && !client.isClosed()) {
                reply.release();
                loop.router().refresh(to);
                attempt(request, to, redirection.kind() == Redirection.Kind.ASK, redirections + 1, pending);
            } else {
                request.release();
                end(pending, reply);
            }
        }, failure -> {
            loop.router().members().close(own);
            request.release();
            failed(failure, member, pending);
        }));
    }

    private void failed(MemberFailure failure, Endpoint member, PendingReply pending) {
        loop.router().refresh(null);
        loop.router().failed();
        end(pending, error(RouteErrors.of(failure, member)));
    }

    private ByteBuf error(String text) {
        return loop.own().of(client.protocol(), reply -> reply.error(text));
    }

    private void end(PendingReply pending, ByteBuf reply) {
        lane = null;
        pending.accept(reply);
        client.resume();
    }

    /** The client is gone. */
    void close() {
        MemberLane open = lane;
        if (open != null) {
            loop.router().members().close(open);
        }
    }
}
