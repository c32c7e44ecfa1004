package io.varve.proxy.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.cluster.map.HashSlot;
import io.varve.memory.offheap.Memory;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.member.MemberLane;
import io.varve.proxy.resp.Requests;
import io.varve.proxy.route.Redirection;
import io.varve.proxy.route.RouteErrors;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * The channels and patterns that a client has subscribed to, each on lanes of the client's own. Confined to the
 * client's event loop.
 *
 * <p>A channel is subscribed at the member of its slot, where PUBLISH through the proxy sends its messages. A pattern
 * is subscribed at each member, or at one member of a Redis Cluster, which passes messages on by itself. The proxy
 * writes the confirmations, because it knows the client's total.
 *
 * <p>If a lane breaks, or a channel is to be at another member, messages may be lost. The client is then disconnected,
 * as by a server that ends.
 */
final class ClientSubscriptions {
    private final ProxyLoop loop;
    private final ClientConnection client;
    private final Map<Endpoint, SubscriptionLane> lanes = new HashMap<>();
    private final Map<Kind, Map<ByteBuf, List<SubscriptionLane>>> subscribed = new HashMap<>();
    private boolean isClosed;

    /** What a subscription is to; the word that begins its commands. */
    enum Kind {
        CHANNEL(""), PATTERN("p"), SHARD_CHANNEL("s");

        private final String prefix;

        Kind(String prefix) {
            this.prefix = prefix;
        }

        static Kind of(String command) {
            return switch (command.charAt(0)) {
                case 'p' -> PATTERN;
                case 's' -> command.startsWith("ss") || command.startsWith("sun") ? SHARD_CHANNEL : CHANNEL;
                default -> CHANNEL;
            };
        }
    }

    ClientSubscriptions(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
        for (Kind kind : Kind.values()) {
            subscribed.put(kind, new LinkedHashMap<>());
        }
        loop.subscriptions().add(this);
    }

    private Map<ByteBuf, List<SubscriptionLane>> names(Kind kind) {
        return java.util.Objects.requireNonNull(subscribed.get(kind));
    }

    void run(Request request, CommandSpec spec) {
        Kind kind = Kind.of(spec.name());
        boolean isSubscribe = !spec.name().contains("unsubscribe");
        if (!isSubscribe && request.argumentCount() == 1) {
            unsubscribeAll(kind);
            return;
        }
        if (kind == Kind.SHARD_CHANNEL && isSubscribe && hasSeveralSlots(request)) {
            client.replyError(RouteErrors.CROSS_SLOT);
            return;
        }
        for (int i = 1; i < request.argumentCount(); i++) {
            if (isClosed) {
                // A member refused a connection, which has disconnected the client.
                return;
            }
            ByteBuf name = Unpooled.wrappedBuffer(
                    Memory.toArray(request.argumentAddress(i), request.argumentLength(i)));
            if (isSubscribe) {
                subscribe(kind, name, RequestKeys.slot(request, i));
            } else {
                unsubscribe(kind, name);
            }
        }
    }

    private static boolean hasSeveralSlots(Request request) {
        int slot = RequestKeys.slot(request, 1);
        for (int i = 2; i < request.argumentCount(); i++) {
            if (RequestKeys.slot(request, i) != slot) {
                return true;
            }
        }
        return false;
    }

    private void subscribe(Kind kind, ByteBuf name, int slot) {
        if (names(kind).containsKey(name)) {
            confirm(kind, "subscribe", name);
            return;
        }
        List<Endpoint> members = members(kind, slot);
        List<SubscriptionLane> to = new ArrayList<>();
        for (Endpoint member : members) {
            SubscriptionLane lane = lane(member);
            if (lane != null) {
                to.add(lane);
            }
        }
        if (to.isEmpty() || to.size() < members.size()) {
            client.replyError("CLUSTERDOWN The proxy cannot subscribe: no member, or no more connections"
                    + " (max-dedicated-connections)");
            return;
        }
        PendingReply pending = client.expect();
        names(kind).put(name, to);
        client.profile().listening(true);
        Confirmations missing = new Confirmations(kind, "subscribe", name, count(kind), to, pending);
        to.forEach(lane -> lane.send(kind.prefix + "subscribe", name, missing));
    }

    private List<Endpoint> members(Kind kind, int slot) {
        if (kind == Kind.PATTERN && !loop.router().table().passesMessagesOn()) {
            return loop.router().table().primaries();
        }
        Endpoint owner = loop.router().table().owner(slot);
        return owner == null ? List.of() : List.of(owner);
    }

    /** Disconnects the client if it would miss messages, because PUBLISH sends them to other members now. */
    void mapChanged() {
        if (loop.router().table().passesMessagesOn()) {
            return;
        }
        for (Kind kind : Kind.values()) {
            for (Map.Entry<ByteBuf, List<SubscriptionLane>> entry : names(kind).entrySet()) {
                List<Endpoint> known = entry.getValue().stream().map(lane -> lane.lane.endpoint()).toList();
                if (!known.containsAll(members(kind, HashSlot.of(entry.getKey().array())))) {
                    client.close();
                    return;
                }
            }
        }
    }

    private void unsubscribe(Kind kind, ByteBuf name) {
        List<SubscriptionLane> from = names(kind).remove(name);
        if (from == null) {
            confirm(kind, "unsubscribe", name);
            return;
        }
        PendingReply pending = client.expect();
        Confirmations missing = new Confirmations(kind, "unsubscribe", name, count(kind), from, pending);
        from.forEach(lane -> lane.send(kind.prefix + "unsubscribe", name, missing));
    }

    private void unsubscribeAll(Kind kind) {
        List<ByteBuf> all = List.copyOf(names(kind).keySet());
        if (all.isEmpty()) {
            confirm(kind, "unsubscribe", null);
        }
        all.forEach(name -> unsubscribe(kind, name));
    }

    private void confirm(Kind kind, String verb, @Nullable ByteBuf name) {
        client.send(confirmation(kind, verb, name, count(kind)));
    }

    /** The number of subscriptions that a confirmation contains. */
    private long count(Kind kind) {
        return kind == Kind.SHARD_CHANNEL
                ? names(kind).size()
                : names(Kind.CHANNEL).size() + names(Kind.PATTERN).size();
    }

    /** Whether the client has subscriptions. */
    private void updateListening() {
        client.profile().listening(subscribed.values().stream().anyMatch(names -> !names.isEmpty()));
    }

    private ByteBuf confirmation(Kind kind, String verb, @Nullable ByteBuf name, long count) {
        updateListening();
        return loop.own().of(client.protocol(), reply -> {
            reply.push(3);
            reply.bulkAscii(kind.prefix + verb);
            if (name == null) {
                reply.nil();
            } else {
                reply.bulk(name.array());
            }
            reply.integer(count);
        });
    }

    private @Nullable SubscriptionLane lane(Endpoint member) {
        SubscriptionLane known = lanes.get(member);
        if (known != null) {
            return known;
        }
        MemberLane lane = loop.router().members().dedicate(member, client.protocol());
        if (lane == null) {
            return null;
        }
        SubscriptionLane opened = new SubscriptionLane(lane);
        lanes.put(member, opened);
        return opened;
    }

    /** Stops or resumes reading messages, so that members hold them for a client that does not read. */
    void reading(boolean isOn) {
        lanes.values().forEach(lane -> lane.lane.reading(isOn));
    }

    void close() {
        isClosed = true;
        loop.subscriptions().remove(this);
        lanes.values().forEach(lane -> loop.router().members().close(lane.lane));
        lanes.clear();
        subscribed.values().forEach(Map::clear);
    }

    /** The members whose confirmations of one name are missing. Confined to the event loop. */
    private final class Confirmations {
        private final Kind kind;
        private final String verb;
        private final ByteBuf name;
        private final long count;
        private final List<SubscriptionLane> from;
        private final PendingReply pending;
        private int missing;
        private boolean isRefused;

        /** @param count the number of subscriptions after this one has begun or ended */
        Confirmations(Kind kind, String verb, ByteBuf name, long count, List<SubscriptionLane> from,
                PendingReply pending) {
            this.kind = kind;
            this.verb = verb;
            this.name = name;
            this.count = count;
            this.from = from;
            this.pending = pending;
            missing = from.size();
        }

        void arrived() {
            missing--;
            if (missing == 0 && !isRefused) {
                pending.accept(confirmation(kind, verb, name, count));
            }
        }

        /** The first refusal is the client's reply; the other members end what they have begun. */
        void refused(ByteBuf error, SubscriptionLane by) {
            missing--;
            if (isRefused) {
                return;
            }
            isRefused = true;
            names(kind).remove(name);
            updateListening();
            if (verb.equals("subscribe")) {
                from.stream().filter(lane -> lane != by)
                        .forEach(lane -> lane.send(kind.prefix + "unsubscribe", name, this));
            }
            if (Redirection.of(error, by.lane.endpoint()) != null) {
                loop.router().refresh(null);
            }
            pending.accept(error.retain());
        }
    }

    /** A lane of the client, on which a member sends messages. Confined to the event loop. */
    private final class SubscriptionLane {
        private final MemberLane lane;
        private final ArrayDeque<Confirmations> expected = new ArrayDeque<>();

        SubscriptionLane(MemberLane lane) {
            this.lane = lane;
            lane.onBroken(() -> {
                if (!isClosed) {
                    client.close();
                }
            });
            lane.listen(this::received);
        }

        void send(String command, ByteBuf name, Confirmations confirmations) {
            expected.add(confirmations);
            lane.tell(Requests.of(loop.allocator(),
                    List.of(command.getBytes(StandardCharsets.US_ASCII), name.array())));
        }

        private void received(ByteBuf frame) {
            switch (SubscriptionFrame.of(frame)) {
                case MESSAGE -> {
                    if (client.profile().isListening()) {
                        client.send(frame);
                    } else {
                        // Another member has refused the only subscription.
                        frame.release();
                    }
                }
                case CONFIRMATION -> {
                    frame.release();
                    Confirmations next = expected.poll();
                    if (next == null) {
                        // The member has ended the subscription: the slot of the channel has moved.
                        client.close();
                    } else {
                        next.arrived();
                    }
                }
                case ERROR -> {
                    Confirmations next = expected.poll();
                    if (next != null) {
                        next.refused(frame, this);
                    }
                    frame.release();
                }
            }
        }
    }
}
