package io.varve.server.pubsub;

import io.varve.server.resp.ReplyWriter;

/**
 * Tells a client that its subscription to a shard channel has ended, because the channel belongs to another member of
 * the cluster. Immutable; it ends the subscription when it is written.
 *
 * @param from the subscribers of the channel
 */
record EndedSubscription(Subscribers from) implements OutboundMessage {
    /** Maximum bytes of words, numbers and line ends around the name. */
    private static final int WORDS_BYTES = 64;

    @Override
    public long wireBytes() {
        return WORDS_BYTES + (long) from.name().length();
    }

    @Override
    public boolean isDeliverableTo(Subscriptions client) {
        return client.isTo(from);
    }

    @Override
    public void writeTo(ReplyWriter reply) {
        throw new IllegalStateException("it depends on its client");
    }

    @Override
    public void writeTo(ReplyWriter reply, Subscriptions client) {
        reply.push(3);
        reply.bulkAscii(from.scope().unsubscribeWord());
        reply.bulk(from.name().bytes());
        reply.integer(client.confirmedCount(from.scope()) - 1L);
        client.unsubscribe(from.scope(), from.name());
        client.remove(from.scope(), from.name());
    }

    @Override
    public void delivered() {
        // Nothing counts its deliveries.
    }
}
