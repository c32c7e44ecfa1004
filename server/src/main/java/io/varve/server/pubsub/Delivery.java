package io.varve.server.pubsub;

import io.varve.server.resp.ReplyWriter;

/**
 * A message for the subscribers of one name, as it is stored in their inboxes. Immutable.
 *
 * @param message the message
 * @param to the subscribers of the name through which it is delivered
 */
record Delivery(Message message, Subscribers to) implements OutboundMessage {
    /** Maximum bytes of words, numbers and line ends around names and message. */
    private static final int WORDS_BYTES = 64;

    @Override
    public long wireBytes() {
        long names = (long) message.channel().length()
                + (to.scope() == SubscriptionType.PATTERN ? to.name().length() : 0);
        return WORDS_BYTES + names + message.length();
    }

    @Override
    public boolean isDeliverableTo(Subscriptions client) {
        return client.isTo(to);
    }

    @Override
    public void delivered() {
        message.delivered();
    }

    @Override
    public void writeTo(ReplyWriter reply) {
        boolean byPattern = to.scope() == SubscriptionType.PATTERN;
        reply.push(byPattern ? 4 : 3);
        reply.bulkAscii(to.scope().messageWord());
        if (byPattern) {
            reply.bulk(to.name().bytes());
        }
        reply.bulk(message.channel().bytes());
        message.writeTo(reply);
    }
}
