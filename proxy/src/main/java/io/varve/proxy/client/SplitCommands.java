package io.varve.proxy.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.varve.proxy.client.CommandRoutes.Route;
import io.varve.proxy.map.SlotTable;
import io.varve.proxy.merge.WriteStamps;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.resp.Requests;
import io.varve.proxy.route.RoutedCall;
import io.varve.server.command.spec.CommandErrors;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * Commands on keys of several slots that the proxy divides: MGET, MSET, DEL, EXISTS, UNLINK and TOUCH. Confined to an
 * event loop.
 *
 * <p>A member of a cluster takes the keys of one slot in a request; a plain server takes all of its keys. The parts run
 * at different times, so the command is atomic for each part only. If a part fails, the reply is the error of the first
 * such part.
 */
final class SplitCommands {
    private static final int VALUE_STEP = 2;
    /** Elements of this average size are sent as slices, shorter ones are copied together. */
    private static final int SLICE_BYTES = 2 << 10;

    private final ProxyLoop loop;
    private final ClientConnection client;

    SplitCommands(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
    }

    void run(Request request, CommandSpec spec, Route route, RequestKeys keys) {
        if (route == Route.MSET && request.argumentCount() % VALUE_STEP == 0) {
            client.replyError(CommandErrors.wrongCount(spec));
            return;
        }
        loop.proxy().splitRequests.increment();
        WriteStamps.Write write = spec.isWrite() ? loop.proxy().stamps().begin(keys.stripes(request)) : null;
        PendingReply pending = client.expect().ends(write);
        Map<Object, List<Integer>> groups = groups(request, keys);
        Parts parts = new Parts(route, keys.count(), groups.size(), pending);
        int number = 0;
        for (List<Integer> group : groups.values()) {
            int part = number++;
            int[] arguments = arguments(route, keys, group);
            ByteBuf bytes = Requests.select(loop.allocator(), request, arguments, arguments.length);
            parts.keys.add(group);
            RoutedCall.send(loop.router(), client, bytes, RequestKeys.slot(request, arguments[1]), !spec.isWrite(), 0,
                    reply -> parts.accept(part, reply));
        }
    }

    /** The numbers of the keys that go together, in the order of their first keys. */
    private Map<Object, List<Integer>> groups(Request request, RequestKeys keys) {
        SlotTable table = loop.router().table();
        Map<Object, List<Integer>> groups = new LinkedHashMap<>();
        for (int i = 0; i < keys.count(); i++) {
            int slot = RequestKeys.slot(request, keys.argument(i));
            Object owner = table.isClustered() ? null : table.owner(slot);
            groups.computeIfAbsent(owner == null ? slot : owner, _ -> new ArrayList<>()).add(i);
        }
        return groups;
    }

    /** The arguments of a part: the name, and each key, for MSET with its value. */
    private static int[] arguments(Route route, RequestKeys keys, List<Integer> group) {
        int step = route == Route.MSET ? VALUE_STEP : 1;
        int[] arguments = new int[1 + step * group.size()];
        int at = 1;
        for (int key : group) {
            for (int i = 0; i < step; i++) {
                arguments[at++] = keys.argument(key) + i;
            }
        }
        return arguments;
    }

    /** The replies of the parts, until all are there. Confined to the event loop. */
    private final class Parts {
        private final Route route;
        private final int keyCount;
        private final PendingReply pending;
        private final @Nullable ByteBuf[] replies;
        /** The numbers of the keys of each part. */
        private final List<List<Integer>> keys = new ArrayList<>();
        private int missing;

        Parts(Route route, int keyCount, int parts, PendingReply pending) {
            this.route = route;
            this.keyCount = keyCount;
            this.pending = pending;
            replies = new ByteBuf[parts];
            missing = parts;
        }

        void accept(int part, ByteBuf reply) {
            replies[part] = reply;
            missing--;
            if (missing == 0) {
                pending.accept(joined());
            }
        }

        private ByteBuf joined() {
            List<ByteBuf> all = new ArrayList<>(replies.length);
            for (ByteBuf reply : replies) {
                all.add(java.util.Objects.requireNonNull(reply));
            }
            try {
                for (ByteBuf reply : all) {
                    if (Reply.isError(reply)) {
                        return reply.retain();
                    }
                }
                return switch (route) {
                    case MGET -> values(all);
                    case MSET -> all.getFirst().retain();
                    default -> sum(all);
                };
            } finally {
                all.forEach(ByteBuf::release);
            }
        }

        private ByteBuf sum(List<ByteBuf> counts) {
            long total = 0;
            for (ByteBuf count : counts) {
                total += Reply.of(count).integer();
            }
            long sum = total;
            return loop.own().of(client.protocol(), reply -> reply.integer(sum));
        }

        private ByteBuf values(List<ByteBuf> arrays) {
            ByteBuf[] values = new ByteBuf[keyCount];
            long bytes = 0;
            for (int part = 0; part < arrays.size(); part++) {
                List<ByteBuf> elements = Reply.elementsOf(arrays.get(part));
                List<Integer> places = keys.get(part);
                for (int i = 0; i < places.size(); i++) {
                    values[places.get(i)] = elements.get(i);
                    bytes += elements.get(i).readableBytes();
                }
            }
            return array(loop.allocator(), values, bytes);
        }
    }

    /** An array of replies; copies them or retains slices of them. */
    static ByteBuf array(ByteBufAllocator allocator, ByteBuf[] elements, long bytes) {
        int headBytes = 1 + Numbers.MAX_LONG_CHARS + 2;
        boolean copies = bytes / Math.max(1, elements.length) < SLICE_BYTES;
        ByteBuf head = allocator.directBuffer(copies ? Math.toIntExact(headBytes + bytes) : headBytes);
        head.writeByte('*');
        head.writeCharSequence(Integer.toString(elements.length), java.nio.charset.StandardCharsets.US_ASCII);
        head.writeByte('\r').writeByte('\n');
        if (copies) {
            for (ByteBuf element : elements) {
                head.writeBytes(element, element.readerIndex(), element.readableBytes());
            }
            return head;
        }
        CompositeByteBuf whole = allocator.compositeBuffer(elements.length + 1);
        whole.addComponent(true, head);
        for (ByteBuf element : elements) {
            whole.addComponent(true, element.retain());
        }
        return whole;
    }
}
