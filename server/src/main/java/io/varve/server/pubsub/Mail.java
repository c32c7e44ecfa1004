package io.varve.server.pubsub;

import io.varve.server.resp.ReplyWriter;

/** What lies in a client's inbox. Many threads: immutable, but for the count of deliveries that are outstanding. */
public interface Mail {
    /** What it takes on the wire, about. */
    long wireBytes();

    /** Whether the client still wants it: what it has left meanwhile is dropped. */
    boolean isWantedBy(Subscriptions client);

    /** @throws io.varve.server.resp.NoBufferException if there is no memory for it: a part may have been written */
    void writeTo(ReplyWriter reply);

    /** This delivery is over, whatever has become of it. */
    void delivered();
}
