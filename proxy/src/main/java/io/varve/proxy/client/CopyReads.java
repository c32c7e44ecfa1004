package io.varve.proxy.client;

import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;
import io.varve.proxy.client.CommandRoutes.Route;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.map.HotKeyCopies;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * Decides which reads of a client may go to copies of hot keys. Confined to the client's event loop.
 *
 * <p>After a write to a key that has copies, the client reads from owners until all copies have the write. It would
 * otherwise not see its own write.
 */
final class CopyReads {
    private final ProxyLoop loop;
    private final ClientConnection client;
    /** The reply to the last write of a key with copies; null if there was none lately. */
    private @Nullable PendingReply lastWrite;
    /** Whether reads of copies may be in flight. */
    private boolean isReading;

    CopyReads(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
    }

    /** Whether a write has to wait until the client has the replies to its reads. */
    boolean mustPrecede() {
        isReading = isReading && client.hasPendingReplies();
        return isReading;
    }

    /** The member that has a copy of the key that an argument names; null: the read goes to the owner. */
    @Nullable
    Endpoint holder(Request request, int argument) {
        HotKeyCopies copies = loop.proxy().copies();
        if (copies.isEmpty()) {
            return null;
        }
        PendingReply write = lastWrite;
        if (write != null && !write.isOlderThan(HotKeyCopies.LAG_NANOS)) {
            return null;
        }
        lastWrite = null;
        Endpoint holder = copies.choose(name(request, argument), client.id(), System.nanoTime());
        isReading |= holder != null;
        return holder;
    }

    private static String name(Request request, int argument) {
        return new String(Memory.toArray(request.argumentAddress(argument), request.argumentLength(argument)),
                StandardCharsets.ISO_8859_1);
    }

    /** A request was sent. */
    void handled(Request request, CommandSpec spec, Route route, RequestKeys keys) {
        HotKeyCopies copies = loop.proxy().copies();
        if (copies.isEmpty() || spec.has(CommandFlag.READONLY) && !spec.isWrite()) {
            return;
        }
        boolean mayWrite = switch (route) {
            case FORWARD, MSET, COUNT_KEYS, BLOCKING -> hasCopies(request, keys, copies);
            case TRANSACTION, FLUSH -> true;
            default -> false;
        };
        PendingReply reply = client.lastExpected();
        if (mayWrite && reply != null) {
            reply.time();
            lastWrite = reply;
        }
    }

    private static boolean hasCopies(Request request, RequestKeys keys, HotKeyCopies copies) {
        for (int i = 0; i < keys.count(); i++) {
            if (copies.has(name(request, keys.argument(i)))) {
                return true;
            }
        }
        return false;
    }
}
