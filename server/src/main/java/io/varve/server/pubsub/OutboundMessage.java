package io.varve.server.pubsub;

import io.varve.server.resp.ReplyWriter;

/** A message in a client's inbox. Many threads: immutable, except the count of outstanding deliveries. */
public interface OutboundMessage {
    /** Approximate wire size. */
    long wireBytes();

    /** Whether the client still wants it: messages of ended subscriptions are dropped. */
    boolean isDeliverableTo(Subscriptions client);

    /** @throws io.varve.server.resp.NoBufferException if there is no memory for it: a part may have been written */
    void writeTo(ReplyWriter reply);

    /** As {@link #writeTo(ReplyWriter)}, for a message that depends on the client. Its event loop calls it. */
    default void writeTo(ReplyWriter reply, Subscriptions client) {
        writeTo(reply);
    }

    /** Ends this delivery, successful or not. */
    void delivered();
}
