package io.varve.server.tracking;

import io.varve.server.pubsub.Mail;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.ReplyWriter;

/** A client is told that a key has changed. Immutable. */
final class Invalidation implements Mail {
    private static final int HEAP_BYTES = 96;
    /** The words and line ends around the key. */
    private static final int WORDS_BYTES = 48;
    private static final String CHANNEL = "__redis__:invalidate";

    private final byte[] key;
    private final ArgumentMemory memory;

    private final boolean redirected;

    private Invalidation(byte[] key, boolean redirected, ArgumentMemory memory) {
        this.key = key;
        this.redirected = redirected;
        this.memory = memory;
    }

    /**
     * Leaves it for a client.
     *
     * @param redirected whether that is told in place of another one
     * @return false if there is no room for it
     */
    static boolean deliver(byte[] key, Subscriptions to, boolean redirected, ArgumentMemory memory) {
        Invalidation mail = new Invalidation(key, redirected, memory);
        if (!memory.take(mail.heapBytes())) {
            return false;
        }
        if (!to.deliver(mail)) {
            // Who has left has nothing cached.
            mail.delivered();
        }
        return true;
    }

    /** As a push, or as a message: in place of another one, if it listens to something. */
    static boolean isHeardBy(Subscriptions client, boolean redirected) {
        return client.takesPushes() || redirected && client.isListening();
    }

    /** Begins what is told, which the keys follow, for one that {@link #isHeardBy hears it}. */
    static void writeHead(ReplyWriter reply) {
        if (reply.resp3()) {
            reply.push(2);
            reply.bulkAscii("invalidate");
        } else {
            reply.array(3);
            reply.bulkAscii("message");
            reply.bulkAscii(CHANNEL);
        }
    }

    private long heapBytes() {
        return HEAP_BYTES + (long) key.length;
    }

    @Override
    public long wireBytes() {
        return WORDS_BYTES + (long) key.length;
    }

    @Override
    public boolean isWantedBy(Subscriptions client) {
        return isHeardBy(client, redirected);
    }

    @Override
    public void writeTo(ReplyWriter reply) {
        writeHead(reply);
        reply.array(1);
        reply.bulk(key);
    }

    @Override
    public void delivered() {
        memory.give(heapBytes());
    }
}
