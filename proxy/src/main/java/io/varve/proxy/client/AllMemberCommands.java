package io.varve.proxy.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.client.CommandRoutes.Route;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.resp.Requests;
import io.varve.proxy.route.RouteErrors;
import io.varve.proxy.route.RoutedCall;

/**
 * Commands about all keys: each member with slots gets them, and one reply is made of the members'. Confined to an
 * event loop.
 *
 * <p>SCAN goes to one member after the other. Its cursor is the member's cursor times the number of members, plus the
 * member's number in the order of the IDs. So a scan is complete only if the members stay the same.
 */
final class AllMemberCommands {
    private static final int FIRST_OPTION = 2;

    private final ProxyLoop loop;
    private final ClientConnection client;

    AllMemberCommands(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
    }

    void run(Request request, Route route) {
        List<Endpoint> members = loop.router().table().primaries();
        if (members.isEmpty()) {
            client.replyError(RouteErrors.noOwner(loop.router().table(), 0));
            return;
        }
        PendingReply pending = client.expect();
        switch (route) {
            case SCAN -> scan(request, members, pending);
            case RANDOMKEY -> randomKey(request.retainedBytes(), members,
                    ThreadLocalRandom.current().nextInt(members.size()), members.size(), pending);
            default -> {
                if (route == Route.FLUSH) {
                    pending.ends(loop.proxy().stamps().begin(new int[0]));
                }
                toAll(request, route, members, pending);
            }
        }
    }

    private void toAll(Request request, Route route, List<Endpoint> members, PendingReply pending) {
        List<ByteBuf> replies = new ArrayList<>();
        for (Endpoint member : members) {
            RoutedCall.sendTo(loop.router(), client, request.retainedBytes(), member, route != Route.FLUSH, reply -> {
                replies.add(reply);
                if (replies.size() == members.size()) {
                    pending.accept(joined(route, replies));
                }
            });
        }
    }

    private ByteBuf joined(Route route, List<ByteBuf> replies) {
        try {
            for (ByteBuf reply : replies) {
                if (Reply.isError(reply)) {
                    return reply.retain();
                }
            }
            return switch (route) {
                case DBSIZE -> {
                    long sum = replies.stream().mapToLong(reply -> Reply.of(reply).integer()).sum();
                    yield loop.own().of(client.protocol(), reply -> reply.integer(sum));
                }
                case KEYS -> keys(replies);
                default -> replies.getFirst().retain();
            };
        } finally {
            replies.forEach(ByteBuf::release);
        }
    }

    private ByteBuf keys(List<ByteBuf> replies) {
        List<ByteBuf> names = new ArrayList<>();
        long bytes = 0;
        for (ByteBuf reply : replies) {
            names.addAll(Reply.elementsOf(reply));
            bytes += reply.readableBytes();
        }
        return SplitCommands.array(loop.allocator(), names.toArray(new ByteBuf[0]), bytes);
    }

    /** Asks one member after the other until one has a key. */
    private void randomKey(ByteBuf request, List<Endpoint> members, int first, int left, PendingReply pending) {
        RoutedCall.sendTo(loop.router(), client, request.retainedSlice(), members.get(first), true, reply -> {
            boolean isNull = !Reply.isError(reply) && Reply.of(reply).text() == null;
            if (isNull && left > 1 && !client.isClosed()) {
                reply.release();
                randomKey(request, members, (first + 1) % members.size(), left - 1, pending);
            } else {
                request.release();
                pending.accept(reply);
            }
        });
    }

    // --- SCAN

    private void scan(Request request, List<Endpoint> members, PendingReply pending) {
        int count = members.size();
        Long parsed = cursor(request.text(1));
        if (parsed == null) {
            pending.accept(error("ERR invalid cursor"));
            return;
        }
        long cursor = parsed;
        int member = (int) Long.remainderUnsigned(cursor, count);
        List<byte[]> words = new ArrayList<>();
        words.add(request.argumentBytes(0));
        words.add(Long.toUnsignedString(Long.divideUnsigned(cursor, count))
                .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        for (int i = FIRST_OPTION; i < request.argumentCount(); i++) {
            words.add(io.varve.memory.offheap.Memory.toArray(request.argumentAddress(i), request.argumentLength(i)));
        }
        RoutedCall.sendTo(loop.router(), client, Requests.of(loop.allocator(), words), members.get(member), true,
                reply -> pending.accept(scanned(reply, member, count)));
    }

    private static @org.jspecify.annotations.Nullable Long cursor(String text) {
        try {
            return Long.parseUnsignedLong(text);
        } catch (NumberFormatException _) {
            return null;
        }
    }

    private ByteBuf scanned(ByteBuf reply, int member, int members) {
        if (Reply.isError(reply)) {
            return reply;
        }
        try {
            List<ByteBuf> parts = Reply.elementsOf(reply);
            long at = Long.parseUnsignedLong(Reply.of(parts.getFirst()).textOrEmpty());
            if (Long.compareUnsigned(at, Long.divideUnsigned(-1L, members) - 1) > 0) {
                return error("ERR The cursor " + Long.toUnsignedString(at) + " of a member is too large for the proxy");
            }
            boolean isLast = at == 0 && member + 1 == members;
            long next = isLast ? 0 : at == 0 ? member + 1 : at * members + member;
            ByteBuf cursor = loop.own().of(client.protocol(), own -> own.bulkAscii(Long.toUnsignedString(next)));
            ByteBuf names = parts.get(1);
            try {
                return SplitCommands.array(loop.allocator(), new ByteBuf[] {cursor, names},
                        (long) cursor.readableBytes() + names.readableBytes());
            } finally {
                cursor.release();
            }
        } finally {
            reply.release();
        }
    }

    private ByteBuf error(String text) {
        return loop.own().of(client.protocol(), reply -> reply.error(text));
    }
}
