package io.varve.proxy.client;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;

import io.varve.memory.offheap.Memory;
import io.varve.proxy.client.CommandRoutes.Route;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.map.HotKeyCopies;
import io.varve.proxy.route.CopyCall;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * Decides which reads of a client may go to copies of hot keys. Confined to the client's event loop.
 *
 * <p>The client may know the owner's value of a key with copies: from a write, a read of several keys, or a read that a
 * copy did not serve. It then reads from owners until all copies have that value. Otherwise it would not see its own
 * write, or see an older value after a newer one. Its other reads at owners in that time do not extend it: a client
 * that reads without a pause would never come back to the copies.
 */
final class CopyReads implements CopyCall.Reader {
    private final ProxyLoop loop;
    private final ClientConnection client;
    /** The reply, or a later one, that told the client the owner's value; null if there was none lately. */
    private @Nullable PendingReply lastOfOwner;
    /** The keys whose reads of copies may be in flight. They may have no copies any more. */
    private final Set<String> reading = new HashSet<>();

    CopyReads(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
    }

    /**
     * Whether a request has to wait until the client has the replies to its reads of copies: it concerns the same keys
     * at their owners, which could run it before a read that is slow at a holder.
     */
    boolean mustPrecede(Request request, CommandSpec spec, Route route, RequestKeys keys) {
        if (reading.isEmpty()) {
            return false;
        }
        if (!client.hasPendingReplies()) {
            reading.clear();
            return false;
        }
        keys.find(spec, request);
        return concerns(request, route, keys, reading::contains)
                && !(mayReadCopy(spec, route, keys) && choose(name(request, keys.argument(0))) != null);
    }

    /** The member that has a copy of the key that an argument names; null: the read goes to the owner. */
    @Nullable
    Endpoint holder(Request request, int argument) {
        if (loop.proxy().copies().isEmpty()) {
            return null;
        }
        String key = name(request, argument);
        Endpoint holder = choose(key);
        if (holder != null) {
            reading.add(key);
        }
        return holder;
    }

    private @Nullable Endpoint choose(String key) {
        return readsCopies() ? loop.proxy().copies().choose(key, client.id(), System.nanoTime()) : null;
    }

    @Override
    public boolean readsCopies() {
        PendingReply last = lastOfOwner;
        if (last != null && !last.isOlderThan(HotKeyCopies.LAG_NANOS)) {
            return false;
        }
        lastOfOwner = null;
        return true;
    }

    @Override
    public void leftCopy() {
        readFromOwners();
    }

    private void readFromOwners() {
        // The replies before it are on their way to the client no later.
        PendingReply reply = client.lastExpected();
        if (reply != null) {
            reply.time();
            lastOfOwner = reply;
        }
    }

    private static String name(Request request, int argument) {
        return new String(Memory.toArray(request.argumentAddress(argument), request.argumentLength(argument)),
                StandardCharsets.ISO_8859_1);
    }

    /** A request was sent. */
    void handled(Request request, CommandSpec spec, Route route, RequestKeys keys) {
        HotKeyCopies copies = loop.proxy().copies();
        boolean isAtOwners = !copies.isEmpty() && !mayReadCopy(spec, route, keys);
        // Copies may begin while a command waits.
        if (route == Route.BLOCKING || isAtOwners && concerns(request, route, keys, copies::has)) {
            readFromOwners();
        }
    }

    private static boolean mayReadCopy(CommandSpec spec, Route route, RequestKeys keys) {
        return CommandDispatcher.isRead(spec) && keys.count() == 1 && route != Route.BLOCKING;
    }

    /** Whether a request may read or write some keys. */
    private static boolean concerns(Request request, Route route, RequestKeys keys, Predicate<String> some) {
        return switch (route) {
            case FORWARD, GET, MGET, MSET, COUNT_KEYS, BLOCKING -> hasAny(request, keys, some);
            case TRANSACTION, FLUSH -> true;
            default -> false;
        };
    }

    private static boolean hasAny(Request request, RequestKeys keys, Predicate<String> some) {
        for (int i = 0; i < keys.count(); i++) {
            if (some.test(name(request, keys.argument(i)))) {
                return true;
            }
        }
        return false;
    }
}
