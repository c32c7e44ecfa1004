package io.varve.proxy.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.proxy.client.CommandRoutes.Route;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.member.MemberFailure;
import io.varve.proxy.member.MemberLane;
import io.varve.proxy.merge.WriteStamps;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.route.Redirection;
import io.varve.proxy.route.RouteErrors;
import io.varve.proxy.route.RoutedCall;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * The transaction of a client: MULTI, EXEC, DISCARD, WATCH and UNWATCH on keys of one slot. Confined to the client's
 * event loop.
 *
 * <p>The proxy queues the commands after MULTI itself and sends all of them with EXEC, so that no connection waits for
 * the client in between. After WATCH the client has a lane of its own, because the member watches for a connection. Its
 * commands on the watched slot take that lane, so that they run after WATCH. If the lane breaks, EXEC answers null, as
 * if a watched key had changed: the transaction has not run.
 */
final class ClientTransaction {
    private static final ByteBuf MULTI = constant("*1\r\n$5\r\nMULTI\r\n");
    private static final ByteBuf EXEC = constant("*1\r\n$4\r\nEXEC\r\n");
    private static final ByteBuf UNWATCH = constant("*1\r\n$7\r\nUNWATCH\r\n");
    private static final String ABORTED = "EXECABORT Transaction discarded because of previous errors.";
    private static final String TOO_LONG = "ERR The transaction exceeds client-query-buffer-limit";
    private static final String NO_LANE = "ERR The proxy has no more connections for WATCH (max-dedicated-connections)";
    private static final String LANE_LOST = "ERR The connection of WATCH to the member broke; the command may have run";

    private final ProxyLoop loop;
    private final ClientConnection client;
    private final List<ByteBuf> queued = new ArrayList<>();
    private final List<int[]> writtenStripes = new ArrayList<>();
    private boolean isOpen;
    private boolean hasFailed;
    private long queuedBytes;
    private int slot = RequestKeys.NO_SLOT;
    private int watchedSlot = RequestKeys.NO_SLOT;
    private @Nullable MemberLane lane;
    private boolean hasLostWatch;

    ClientTransaction(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
    }

    private static ByteBuf constant(String text) {
        return Unpooled.unreleasableBuffer(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    /** Whether commands are queued: between MULTI and EXEC. */
    boolean isOpen() {
        return isOpen;
    }

    /** A command was refused, so the transaction will not run. */
    void fail() {
        hasFailed |= isOpen;
    }

    /** EXEC was refused. */
    void abort(String error) {
        String reason = error.startsWith("ERR ") ? error.substring("ERR ".length()) : error;
        clear();
        unwatch();
        client.replyError("EXECABORT Transaction discarded because of: " + reason);
    }

    /** @return false if the request has to wait until all earlier ones have their replies */
    boolean run(Request request, CommandSpec spec, RequestKeys keys) {
        switch (spec.name()) {
            case "multi" -> multi();
            case "exec" -> exec();
            case "discard" -> discard();
            case "watch" -> {
                return watch(request, keys);
            }
            default -> {
                unwatch();
                client.reply(io.varve.server.resp.ReplyWriter::ok);
            }
        }
        return true;
    }

    private void multi() {
        if (isOpen) {
            client.replyError("ERR MULTI calls can not be nested");
            return;
        }
        isOpen = true;
        client.reply(io.varve.server.resp.ReplyWriter::ok);
    }

    private void discard() {
        if (!isOpen) {
            client.replyError("ERR DISCARD without MULTI");
            return;
        }
        clear();
        unwatch();
        client.reply(io.varve.server.resp.ReplyWriter::ok);
    }

    // --- queueing

    /** Queues a command, or refuses it, which fails the transaction. */
    void queue(Request request, CommandSpec spec, Route route, RequestKeys keys) {
        int keySlot = route == Route.PUBLISH ? RequestKeys.slot(request, 1) : keys.slot(request);
        String refusal = refusal(request, spec, route, keySlot);
        if (refusal != null) {
            hasFailed = true;
            client.replyError(refusal);
            return;
        }
        if (keySlot >= 0) {
            slot = keySlot;
        }
        if (!hasFailed) {
            queued.add(request.retainedBytes());
            queuedBytes += request.size();
            if (!spec.has(CommandFlag.READONLY) && keys.count() > 0) {
                writtenStripes.add(keys.stripes(request));
            }
        }
        client.reply(reply -> reply.simple("QUEUED"));
    }

    private @Nullable String refusal(Request request, CommandSpec spec, Route route, int keySlot) {
        if (spec.has(CommandFlag.NO_MULTI)) {
            return "ERR Command not allowed inside a transaction";
        }
        boolean isServed = switch (route) {
            case FORWARD, GET, BLOCKING, MGET, MSET, COUNT_KEYS, PUBLISH, ANY -> true;
            case OWN -> spec.name().equals("ping") || spec.name().equals("echo");
            default -> false;
        };
        CommandSpec.OtherKeys others = spec.otherKeys();
        if (!isServed || others != null && others.areUsed(request)) {
            return "ERR The proxy does not serve '" + spec.fullName() + "' in a transaction";
        }
        int only = watchedSlot >= 0 ? watchedSlot : slot;
        if (keySlot == RequestKeys.SEVERAL_SLOTS || keySlot >= 0 && only >= 0 && keySlot != only) {
            return RouteErrors.CROSS_SLOT;
        }
        return queuedBytes + request.size() > loop.proxy().settings().maxInputBytes() ? TOO_LONG : null;
    }

    private void exec() {
        dropLaneOfFormerOwner();
        if (!isOpen) {
            client.replyError("ERR EXEC without MULTI");
        } else if (hasFailed) {
            clear();
            unwatch();
            client.replyError(ABORTED);
        } else if (hasLostWatch) {
            clear();
            unwatch();
            client.reply(io.varve.server.resp.ReplyWriter::nilArray);
        } else if (queued.isEmpty() && lane == null) {
            clear();
            client.reply(reply -> reply.array(0));
        } else {
            send();
        }
    }

    private void send() {
        int commands = queued.size();
        ByteBuf batch = batch();
        PendingReply pending = client.expect().ends(write());
        int to = slot;
        MemberLane own = lane;
        clear();
        if (own != null) {
            sendOnLane(own, batch, commands, pending);
        } else if (to >= 0) {
            RoutedCall.send(loop.router(), client, batch, to, false, commands + 1, pending);
        } else {
            RoutedCall.send(loop.router(), client, batch, 0, false, commands + 1, pending);
        }
    }

    private ByteBuf batch() {
        CompositeByteBuf batch = loop.allocator().compositeBuffer(queued.size() + 2);
        batch.addComponent(true, MULTI.duplicate());
        for (ByteBuf command : queued) {
            batch.addComponent(true, command.retain());
        }
        batch.addComponent(true, EXEC.duplicate());
        return batch;
    }

    private WriteStamps.@Nullable Write write() {
        int[] stripes = writtenStripes.stream().flatMapToInt(java.util.Arrays::stream).distinct().toArray();
        return stripes.length == 0 ? null : loop.proxy().stamps().begin(stripes);
    }

    /** The client waits for the reply, because its next commands take other lanes. */
    private void sendOnLane(MemberLane own, ByteBuf batch, int commands, PendingReply pending) {
        lane = null;
        watchedSlot = RequestKeys.NO_SLOT;
        own.onBroken(null);
        client.pause();
        own.submit(DedicatedCall.of(batch, commands + 1, true, (reply, leadingError) -> {
            if (Reply.isError(reply)) {
                // It may still watch the keys.
                loop.router().members().close(own);
            } else {
                loop.router().members().giveBack(own);
            }
            pending.accept(afterWatch(reply, leadingError, own.endpoint()));
            client.resume();
        }, failure -> {
            loop.router().members().close(own);
            if (failure == MemberFailure.UNREACHABLE) {
                pending.accept(nilArray());
            } else {
                loop.router().failed();
                pending.accept(error(LANE_LOST));
            }
            client.resume();
        }).asTransaction());
    }

    /** If the slot has moved, the transaction has not run, and the watch is void. */
    private ByteBuf afterWatch(ByteBuf reply, @Nullable String leadingError, Endpoint member) {
        boolean hasMoved = Reply.isError(reply) && (Redirection.of(reply, member) != null
                || leadingError != null && Redirection.of(leadingError, member) != null);
        if (!hasMoved) {
            return reply;
        }
        reply.release();
        loop.router().refresh(null);
        return nilArray();
    }

    private ByteBuf nilArray() {
        return loop.own().of(client.protocol(), io.varve.server.resp.ReplyWriter::nilArray);
    }

    private ByteBuf error(String text) {
        return loop.own().of(client.protocol(), reply -> reply.error(text));
    }

    // --- watching

    /** Whether commands on the slot take the lane of WATCH. */
    boolean ownsSlot(int keySlot) {
        dropLaneOfFormerOwner();
        return lane != null && keySlot == watchedSlot;
    }

    /** A plain member does not redirect: what runs at a former owner would be lost. */
    private void dropLaneOfFormerOwner() {
        MemberLane own = lane;
        if (own != null && !own.endpoint().equals(loop.router().table().owner(watchedSlot))) {
            loseWatch(own);
        }
    }

    private void loseWatch(MemberLane own) {
        lane = null;
        hasLostWatch = true;
        own.onBroken(null);
        loop.router().members().close(own);
    }

    /** Sends a request, which is taken over, to the member that serves it now. Confined to the client's event loop. */
    @FunctionalInterface
    interface Resend {
        void send(ByteBuf request, PendingReply pending);
    }

    /**
     * Sends a command, which is taken over, on the lane of WATCH. The client waits for the reply. If the slot has
     * moved, the command has not run, and the watch is void.
     */
    void forward(ByteBuf request, PendingReply pending, boolean isTimed, Resend elsewhere) {
        MemberLane own = java.util.Objects.requireNonNull(lane);
        client.pause();
        own.submit(DedicatedCall.of(request.retain(), 0, isTimed, (reply, _) -> {
            if (isRedirection(reply, own)) {
                reply.release();
                loop.router().refresh(null);
                loseWatch(own);
                elsewhere.send(request, pending);
            } else {
                request.release();
                pending.accept(reply);
            }
            client.resume();
        }, _ -> {
            request.release();
            loop.router().failed();
            pending.accept(error(LANE_LOST));
            client.resume();
        }));
    }

    private static boolean isRedirection(ByteBuf reply, MemberLane from) {
        return Reply.isError(reply) && Redirection.of(reply, from.endpoint()) != null;
    }

    private boolean watch(Request request, RequestKeys keys) {
        if (isOpen) {
            hasFailed = true;
            client.replyError("ERR WATCH inside MULTI is not allowed");
            return true;
        }
        if (client.hasPendingReplies()) {
            return false;
        }
        dropLaneOfFormerOwner();
        int keySlot = keys.slot(request);
        if (keySlot == RequestKeys.SEVERAL_SLOTS || watchedSlot >= 0 && keySlot != watchedSlot) {
            client.replyError(RouteErrors.CROSS_SLOT);
            return true;
        }
        if (lane == null && !openLane(keySlot)) {
            return true;
        }
        watchedSlot = keySlot;
        client.pause();
        PendingReply pending = client.expect();
        java.util.Objects.requireNonNull(lane).submit(DedicatedCall.of(request.retainedBytes(), 0, true,
                (reply, _) -> watched(reply, pending), failure -> {
                    loop.router().failed();
                    pending.accept(error(RouteErrors.of(failure, loop.router().table().owner(keySlot))));
                    client.resume();
                }));
        return true;
    }

    private void watched(ByteBuf reply, PendingReply pending) {
        MemberLane own = lane;
        boolean hasMoved = own != null && isRedirection(reply, own);
        if (hasMoved) {
            // Rare, and the client repeats a transaction in any case.
            loop.router().refresh(null);
            unwatch();
            reply.release();
            pending.accept(error("TRYAGAIN The slot of the watched keys moves to another member"));
        } else {
            pending.accept(reply);
        }
        client.resume();
    }

    private boolean openLane(int keySlot) {
        Endpoint owner = loop.router().table().owner(keySlot);
        if (owner == null) {
            client.replyError(RouteErrors.noOwner(loop.router().table(), keySlot));
            return false;
        }
        MemberLane opened = loop.router().members().dedicate(owner, client.protocol());
        if (opened == null) {
            client.replyError(NO_LANE);
            return false;
        }
        lane = opened;
        opened.onBroken(() -> {
            lane = null;
            hasLostWatch = true;
        });
        return true;
    }

    /** Gives the lane back once the member has forgotten the keys. */
    private void unwatch() {
        MemberLane own = lane;
        lane = null;
        watchedSlot = RequestKeys.NO_SLOT;
        hasLostWatch = false;
        if (own != null) {
            own.onBroken(null);
            client.pause();
            own.submit(DedicatedCall.of(UNWATCH.duplicate(), 0, true, (reply, _) -> {
                reply.release();
                loop.router().members().giveBack(own);
                client.resume();
            }, _ -> {
                loop.router().members().close(own);
                client.resume();
            }));
        }
    }

    private void clear() {
        isOpen = false;
        hasFailed = false;
        slot = RequestKeys.NO_SLOT;
        queued.forEach(ByteBuf::release);
        queued.clear();
        queuedBytes = 0;
        writtenStripes.clear();
    }

    /** The client is gone, or forgets everything. */
    void close() {
        clear();
        MemberLane own = lane;
        lane = null;
        watchedSlot = RequestKeys.NO_SLOT;
        hasLostWatch = false;
        if (own != null) {
            own.onBroken(null);
            loop.router().members().close(own);
        }
    }
}
