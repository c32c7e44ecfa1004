package io.varve.proxy.client;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.varve.proxy.map.SlotTable;
import io.varve.proxy.merge.SharedReads;
import io.varve.proxy.route.Router;

/** What the clients of an event loop share. Confined to the event loop. */
public final class ProxyLoop {
    private static final int RESP3 = 3;

    private final ProxyState proxy;
    private final Router router;
    private final SharedReads resp2Reads;
    private final SharedReads resp3Reads;
    private final OwnReplies own;
    /** Of all clients that have subscribed. */
    private final Set<ClientSubscriptions> subscriptions = new HashSet<>();
    private final ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;

    public ProxyLoop(ProxyState proxy, Router router) {
        this.proxy = proxy;
        this.router = router;
        resp2Reads = new SharedReads(proxy.stamps(), proxy.mergedReads);
        resp3Reads = new SharedReads(proxy.stamps(), proxy.mergedReads);
        own = new OwnReplies(allocator, proxy.heap());
    }

    ProxyState proxy() {
        return proxy;
    }

    public Router router() {
        return router;
    }

    /** Routes by another map from now on. */
    public void table(SlotTable changed) {
        router.table(changed);
        List.copyOf(subscriptions).forEach(ClientSubscriptions::mapChanged);
    }

    Set<ClientSubscriptions> subscriptions() {
        return subscriptions;
    }

    ByteBufAllocator allocator() {
        return allocator;
    }

    /** The reads in flight with replies of a protocol: a null reply depends on it. */
    SharedReads reads(int protocol) {
        return protocol == RESP3 ? resp3Reads : resp2Reads;
    }

    OwnReplies own() {
        return own;
    }

    /** Releases the memory of the loop, once its connections are closed. */
    public void close() {
        own.close();
    }
}
