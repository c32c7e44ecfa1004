package io.varve.server.tracking;

import io.varve.server.pubsub.Mail;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.ReplyWriter;

/**
 * A client is told that the one which is to be told of invalid keys in its place has gone. Immutable.
 *
 * @param redirect the number of the client that has gone
 * @param memory   what it is charged to
 */
record BrokenRedirection(long redirect, ArgumentMemory memory) implements Mail {
    private static final int HEAP_BYTES = 64;
    private static final int WIRE_BYTES = 48;

    /** Leaves it for a client, if there is room for it. */
    static void deliver(long redirect, Subscriptions to, ArgumentMemory memory) {
        if (memory.take(HEAP_BYTES)) {
            BrokenRedirection mail = new BrokenRedirection(redirect, memory);
            if (!to.deliver(mail)) {
                mail.delivered();
            }
        }
    }

    @Override
    public long wireBytes() {
        return WIRE_BYTES;
    }

    @Override
    public boolean isWantedBy(Subscriptions client) {
        return client.takesPushes();
    }

    @Override
    public void writeTo(ReplyWriter reply) {
        reply.push(2);
        reply.bulkAscii("tracking-redir-broken");
        reply.integer(redirect);
    }

    @Override
    public void delivered() {
        memory.give(HEAP_BYTES);
    }
}
