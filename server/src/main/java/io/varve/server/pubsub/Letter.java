package io.varve.server.pubsub;

import io.varve.server.resp.ReplyWriter;

/**
 * A message to those who listen to one name: what lies in their inboxes. Immutable.
 *
 * @param message what they are told
 * @param to      the name for whose sake they are told it
 */
record Letter(Message message, Recipients to) implements Mail {
    /** The words, numbers and line ends around names and message, at most. */
    private static final int WORDS_BYTES = 64;

    @Override
    public long wireBytes() {
        long names = (long) message.channel().length() + (to.scope() == Scope.PATTERN ? to.name().length() : 0);
        return WORDS_BYTES + names + message.length();
    }

    @Override
    public boolean isWantedBy(Subscriptions client) {
        return client.isTo(to);
    }

    @Override
    public void delivered() {
        message.delivered();
    }

    @Override
    public void writeTo(ReplyWriter reply) {
        boolean byPattern = to.scope() == Scope.PATTERN;
        reply.push(byPattern ? 4 : 3);
        reply.bulkAscii(to.scope().messageWord());
        if (byPattern) {
            reply.bulk(to.name().bytes());
        }
        reply.bulk(message.channel().bytes());
        message.writeTo(reply);
    }
}
