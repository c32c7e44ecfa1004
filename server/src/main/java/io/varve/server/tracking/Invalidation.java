package io.varve.server.tracking;

import io.varve.server.pubsub.OutboundMessage;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;

/** A message to a client that keys have changed. Immutable. */
final class Invalidation implements OutboundMessage {
    private static final int HEAP_BYTES = 96;
    /** Heap bytes of an array's head and its place among the keys, for all keys except the first. */
    private static final int MORE_HEAP_BYTES = 24;
    /** Wire bytes of the words and line ends around the keys. */
    private static final int WORDS_BYTES = 48;
    /** Wire bytes of the length and line ends, for all keys except the first. */
    private static final int MORE_WORDS_BYTES = 8;
    private static final String CHANNEL = "__redis__:invalidate";

    private final byte[][] keys;
    private final long keyBytes;
    private final RequestHeapBudget memory;
    private final boolean redirected;

    private Invalidation(byte[][] keys, boolean redirected, RequestHeapBudget memory) {
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
     * Queues it for a client.
     *
     * @param keys at least one; they must not change
     * @param redirected whether the client receives it in place of another one
     * @return false if the budget is exhausted
     */
    static boolean deliver(byte[][] keys, Subscriptions to, boolean redirected, RequestHeapBudget memory) {
        Invalidation message = new Invalidation(keys, redirected, memory);
        if (!memory.tryReserve(message.heapBytes())) {
            return false;
        }
        if (!to.deliver(message)) {
            // A client that has disconnected has nothing cached.
            message.delivered();
        }
        return true;
    }

    /**
     * Whether the client can receive it: as a push, or, in place of another client, as a message if it has a
     * subscription.
     */
    static boolean isReceivedBy(Subscriptions client, boolean redirected) {
        return client.supportsPushes() || redirected && client.isListening();
    }

    /** Writes the head of the message, before the keys, for a client that {@link #isReceivedBy can receive it}. */
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
    public boolean isDeliverableTo(Subscriptions client) {
        return isReceivedBy(client, redirected);
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
        memory.release(heapBytes());
    }
}
