package io.varve.proxy.client;

import io.varve.proxy.client.CommandRoutes.Route;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.merge.WriteStamps;
import io.varve.proxy.resp.ReplyTarget;
import io.varve.proxy.route.CopyCall;
import io.varve.proxy.route.RouteErrors;
import io.varve.proxy.route.RoutedCall;
import io.varve.server.command.Errors;
import io.varve.server.command.spec.CommandErrors;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.resp.Shortage;
import org.jspecify.annotations.Nullable;

/**
 * Handles the requests of one client: refuses, answers, or sends each to the members that it concerns. Confined to the
 * client's event loop.
 */
final class CommandDispatcher {
    private static final String REFUSED = "' through the proxy: it concerns one server, so send it to a member";
    private static final String OTHER_KEYS = "ERR The proxy refuses options that read keys which the command does not"
            + " name: they may be on other members";

    private final ProxyLoop loop;
    private final ClientConnection client;
    private final RequestKeys keys = new RequestKeys();
    private final OwnCommands own;
    private final SplitCommands split;
    private final AllMemberCommands allMembers;
    private final ClientTransaction transaction;
    private final BlockingCommands blocking;
    private @Nullable ClientSubscriptions subscriptions;
    private final CopyReads copyReads;
    /** The map by which the requests in flight were routed. */
    private long routedVersion;

    CommandDispatcher(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
        own = new OwnCommands(loop, client);
        split = new SplitCommands(loop, client);
        copyReads = new CopyReads(loop, client);
        allMembers = new AllMemberCommands(loop, client);
        transaction = new ClientTransaction(loop, client);
        blocking = new BlockingCommands(loop, client);
    }

    /** @return false if the request has to wait until all earlier ones have their replies */
    boolean handle(Request request) {
        CommandSpec spec = spec(request);
        String refusal = refusal(request, spec);
        if (spec == null || refusal != null) {
            refuse(spec, java.util.Objects.requireNonNull(refusal));
            return true;
        }
        client.profile().lastCommand(spec.fullName());
        Route route = loop.proxy().routes().of(spec);
        if (transaction.isOpen() && route != Route.TRANSACTION && !endsOrLeaves(spec)) {
            keys.find(spec, request);
            transaction.queue(request, spec, route, keys);
            return true;
        }
        if (loop.router().version() != routedVersion) {
            if (client.hasPendingReplies()) {
                // Otherwise a request could overtake an earlier one, which its old member redirects.
                return false;
            }
            routedVersion = loop.router().version();
        }
        if (copyReads.mustPrecede(request, spec, route, keys)) {
            return false;
        }
        if (!route(request, spec, route)) {
            return false;
        }
        copyReads.handled(request, spec, route, keys);
        return true;
    }

    static boolean isRead(CommandSpec spec) {
        return spec.has(CommandFlag.READONLY) && !spec.isWrite();
    }

    private @Nullable CommandSpec spec(Request request) {
        CommandSpec spec = loop.proxy().commands().find(request.argumentAddress(0), request.argumentLength(0));
        if (spec != null && spec.hasSubcommands() && request.argumentCount() > 1) {
            CommandSpec child = spec.subcommand(request.argumentAddress(1), request.argumentLength(1));
            return child == null ? spec : child;
        }
        return spec;
    }

    /** The error for a request that is not handled; null if there is none. */
    private @Nullable String refusal(Request request, @Nullable CommandSpec spec) {
        if (request.shortage() != Shortage.NONE) {
            return Errors.of(request.shortage());
        }
        if (spec == null) {
            return CommandErrors.unknown(request);
        }
        if (spec.hasSubcommands() && request.argumentCount() > 1) {
            return CommandErrors.unknownSubcommand(spec, request);
        }
        if (!spec.isRunnable() || !spec.acceptsCount(request.argumentCount())) {
            return CommandErrors.wrongCount(spec);
        }
        if (!client.profile().isAuthenticated() && !spec.has(CommandFlag.NO_AUTH)) {
            return CommandErrors.NO_AUTH;
        }
        if (client.profile().isListening() && client.protocol() == 2
                && !spec.has(CommandTrait.ALLOWED_WHILE_SUBSCRIBED)) {
            return CommandErrors.notWhileListening(spec);
        }
        return null;
    }

    private void refuse(@Nullable CommandSpec spec, String error) {
        if (spec != null && spec.fullName().equals("exec")) {
            transaction.abort(error);
        } else {
            transaction.fail();
            client.replyError(error);
        }
    }

    /** Commands that are not queued: Redis runs them at once. */
    private static boolean endsOrLeaves(CommandSpec spec) {
        return spec.has(CommandTrait.RUNS_IN_MULTI);
    }

    private boolean route(Request request, CommandSpec spec, Route route) {
        switch (route) {
            case FORWARD, GET -> forward(request, spec, route == Route.GET);
            case MGET, MSET, COUNT_KEYS -> {
                keys.find(spec, request);
                if (keys.slot(request) != RequestKeys.SEVERAL_SLOTS) {
                    forward(request, spec, false);
                } else {
                    split.run(request, spec, route, keys);
                }
            }
            case ANY -> toAny(request, true, client.expect());
            case FLUSH, DBSIZE, KEYS, RANDOMKEY, SCAN -> allMembers.run(request, route);
            case OWN -> {
                return own.run(request, spec, transaction, this::reset);
            }
            case PUBLISH -> publish(request);
            case BLOCKING -> {
                return block(request, spec);
            }
            case TRANSACTION -> {
                keys.find(spec, request);
                return transaction.run(request, spec, keys);
            }
            case SUBSCRIPTION -> {
                return subscribe(request, spec);
            }
            case REFUSED -> client.replyError("ERR The proxy does not serve '" + spec.fullName() + REFUSED);
        }
        return true;
    }

    // --- commands with keys

    private void forward(Request request, CommandSpec spec, boolean isGet) {
        keys.find(spec, request);
        int slot = keys.slot(request);
        if (refusesKeys(request, spec, slot)) {
            return;
        }
        boolean isRead = isRead(spec);
        Endpoint holder = isRead && keys.count() == 1 ? copyReads.holder(request, keys.argument(0)) : null;
        if (slot != RequestKeys.NO_SLOT && transaction.ownsSlot(slot)) {
            transaction.forward(request.retainedBytes(), client.expect().ends(write(request, isRead)), true,
                    (bytes, pending) -> RoutedCall.send(loop.router(), client, bytes, slot, isRead, 0, pending));
        } else if (holder != null) {
            CopyCall.send(loop.router(), client, request.retainedBytes(), holder, slot, copyReads,
                    client.expect());
        } else if (isGet) {
            get(request, slot);
        } else if (slot == RequestKeys.NO_SLOT) {
            // The arguments name no key, so they are wrong, and any member says how.
            toAny(request, isRead, client.expect().ends(write(request, isRead)));
        } else {
            RoutedCall.send(loop.router(), client, request.retainedBytes(), slot, isRead, 0,
                    client.expect().ends(write(request, isRead)));
        }
    }

    private boolean refusesKeys(Request request, CommandSpec spec, int slot) {
        if (slot == RequestKeys.SEVERAL_SLOTS) {
            client.replyError(RouteErrors.CROSS_SLOT);
            return true;
        }
        CommandSpec.OtherKeys others = spec.otherKeys();
        if (others != null && others.areUsed(request)) {
            client.replyError(OTHER_KEYS);
            return true;
        }
        return false;
    }

    private WriteStamps.@Nullable Write write(Request request, boolean isRead) {
        return isRead ? null : loop.proxy().stamps().begin(keys.stripes(request));
    }

    private void get(Request request, int slot) {
        // The bytes of the request, and thus its key, stay where they are until it has its reply.
        ReplyTarget target = loop.reads(client.protocol()).joinOrLead(request.argumentAddress(1),
                request.argumentLength(1), client.expect());
        if (target != null) {
            RoutedCall.send(loop.router(), client, request.retainedBytes(), slot, true, 0, target);
        }
    }

    private void toAny(Request request, boolean isRead, ReplyTarget target) {
        Endpoint any = loop.router().any();
        if (any == null) {
            target.accept(loop.own().of(client.protocol(),
                    reply -> reply.error(RouteErrors.noOwner(loop.router().table(), 0))));
        } else {
            RoutedCall.sendTo(loop.router(), client, request.retainedBytes(), any, isRead, target);
        }
    }

    /** A channel is at the member of its slot: in a cluster, any member passes a message on to all others. */
    private void publish(Request request) {
        RoutedCall.send(loop.router(), client, request.retainedBytes(), RequestKeys.slot(request, 1), false, 0,
                client.expect());
    }

    private boolean block(Request request, CommandSpec spec) {
        if (client.hasPendingReplies()) {
            return false;
        }
        keys.find(spec, request);
        int slot = keys.slot(request);
        if (refusesKeys(request, spec, slot)) {
            return true;
        }
        if (slot == RequestKeys.NO_SLOT) {
            toAny(request, false, client.expect());
        } else if (transaction.ownsSlot(slot)) {
            transaction.forward(request.retainedBytes(), client.expect().ends(write(request, false)), false,
                    (bytes, pending) -> blocking.run(bytes, slot, pending));
        } else {
            blocking.run(request.retainedBytes(), slot, client.expect().ends(write(request, false)));
        }
        return true;
    }

    // --- subscriptions

    private boolean subscribe(Request request, CommandSpec spec) {
        if (client.hasPendingReplies()) {
            return false;
        }
        ClientSubscriptions known = subscriptions;
        if (known == null) {
            known = new ClientSubscriptions(loop, client);
            subscriptions = known;
        }
        known.run(request, spec);
        return true;
    }

    /** Whether the client reads its messages. */
    void reading(boolean isOn) {
        if (subscriptions != null) {
            subscriptions.reading(isOn);
        }
    }

    // --- end

    private void reset() {
        transaction.close();
        if (subscriptions != null) {
            subscriptions.close();
            subscriptions = null;
        }
        client.profile().listening(false);
    }

    void close() {
        transaction.close();
        blocking.close();
        if (subscriptions != null) {
            subscriptions.close();
        }
    }
}
