package io.varve.server.tracking;

import io.varve.server.pubsub.Mail;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.ReplyWriter;

/** A message to a client that keys have changed. Immutable. */
final class Invalidation implements Mail {
    private static final int HEAP_BYTES = 96;
    /** An array's head and its place among the keys, for all but the first key. */
    private static final int MORE_HEAP_BYTES = 24;
    /** The words and line ends around the keys. */
    private static final int WORDS_BYTES = 48;
    /** The length and line ends of all but the first key. */
    private static final int MORE_WORDS_BYTES = 8;
    private static final String CHANNEL = "__redis__:invalidate";

    private final byte[][] keys;
    private final long keyBytes;
    private final ArgumentMemory memory;
    private final boolean redirected;

    private Invalidation(byte[][] keys, boolean redirected, ArgumentMemory memory) {
        this.keys = keys;
        this.redirected = redirected;
        this.memory = memory;
        long bytes = 0;
        for (byte[] key : keys) {
            bytes += key.length;
        }
        keyBytes = bytes;
    }

    /**
     * Leaves it for a client.
     *
     * @param keys       at least one; they are not to be changed
     * @param redirected whether that is told in place of another one
     * @return false if there is no room for it
     */
    static boolean deliver(byte[][] keys, Subscriptions to, boolean redirected, ArgumentMemory memory) {
        Invalidation mail = new Invalidation(keys, redirected, memory);
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
        return HEAP_BYTES + (keys.length - 1L) * MORE_HEAP_BYTES + keyBytes;
    }

    @Override
    public long wireBytes() {
        return WORDS_BYTES + (keys.length - 1L) * MORE_WORDS_BYTES + keyBytes;
    }

    @Override
    public boolean isWantedBy(Subscriptions client) {
        return isHeardBy(client, redirected);
    }

    @Override
    public void writeTo(ReplyWriter reply) {
        writeHead(reply);
        reply.array(keys.length);
        for (byte[] key : keys) {
            reply.bulk(key);
        }
    }

    @Override
    public void delivered() {
        memory.give(heapBytes());
    }
}
