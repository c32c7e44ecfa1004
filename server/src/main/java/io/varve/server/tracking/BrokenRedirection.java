package io.varve.server.tracking;

import io.varve.server.pubsub.OutboundMessage;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;

/**
 * Notifies a client that the client it redirects its invalidations to has disconnected. Immutable.
 *
 * @param redirect id of the client that has disconnected
 * @param memory the budget that it is charged to
 */
record BrokenRedirection(long redirect, RequestHeapBudget memory) implements OutboundMessage {
    private static final int HEAP_BYTES = 64;
    private static final int WIRE_BYTES = 48;

    /** Queues it for a client, if the budget allows. */
    static void deliver(long redirect, Subscriptions to, RequestHeapBudget memory) {
        if (memory.tryReserve(HEAP_BYTES)) {
            BrokenRedirection message = new BrokenRedirection(redirect, memory);
            if (!to.deliver(message)) {
                message.delivered();
            }
        }
    }

    @Override
    public long wireBytes() {
        return WIRE_BYTES;
    }

    @Override
    public boolean isDeliverableTo(Subscriptions client) {
        return client.supportsPushes();
    }

    @Override
    public void writeTo(ReplyWriter reply) {
        reply.push(2);
        reply.bulkAscii("tracking-redir-broken");
        reply.integer(redirect);
    }

    @Override
    public void delivered() {
        memory.release(HEAP_BYTES);
    }
}
