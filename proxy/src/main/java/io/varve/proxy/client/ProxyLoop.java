package io.varve.proxy.client;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
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
