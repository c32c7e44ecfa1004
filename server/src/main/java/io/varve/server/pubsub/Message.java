package io.varve.server.pubsub;

import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.item.ValueRun;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A published message, shared by all its deliveries. Many threads: immutable, except an atomic count of outstanding
 * deliveries.
 *
 * <p>A short message is copied to the heap, a large one stays in the run in which it arrived. Its heap memory is
 * charged until the last delivery is over.
 */
final class Message {
    /** Heap bytes of the object, its counter, the heads of its arrays. */
    private static final int HEAP_BYTES = 128;
    /** Heap bytes of an inbox node and of the delivery, which most share with others. */
    private static final int DELIVERY_BYTES = 64;

    private final Name channel;
    private final byte @Nullable [] bytes;
    private final @Nullable ValueRun run;
    private final int length;
    private final UndeliveredBytes undelivered;
    private final long charged;
    private final AtomicInteger taken;

    private Message(Name channel, Content content, long deliveries, UndeliveredBytes undelivered, long charged) {
        this.channel = channel;
        run = content.run();
        bytes = run == null ? content.toArray() : null;
        length = content.length();
        taken = new AtomicInteger(Math.toIntExact(deliveries));
        this.undelivered = undelivered;
        this.charged = charged;
        if (run != null) {
            run.retain();
            undelivered.holdRun(length);
        }
    }

    /**
     * Creates a message that is held by a number of deliveries.
     *
     * @param known the channel's name in the registry, if it has subscribers
     * @return null if the heap budget is exhausted
     */
    static @Nullable Message of(Name channel, @Nullable Name known, Content content, long deliveries,
            UndeliveredBytes undelivered) {
        long bytes = HEAP_BYTES;
        bytes += known == null ? channel.length() : 0;
        bytes += content.run() == null ? content.length() : 0;
        long all = bytes + DELIVERY_BYTES * deliveries;
        return undelivered.tryReserve(all)
                ? new Message(known == null ? channel.copy() : known, content, deliveries, undelivered, bytes)
                : null;
    }

    /** The channel's name, with bytes of its own. */
    Name channel() {
        return channel;
    }

    /** Bytes of the content. */
    int length() {
        return length;
    }

    /** @throws io.varve.server.resp.NoBufferException if there is no memory for it: a part may have been written */
    void writeTo(ReplyWriter reply) {
        ValueRun large = run;
        if (large != null) {
            reply.bigBulk(large, large.address(), length);
        } else {
            reply.bulk(java.util.Objects.requireNonNull(bytes));
        }
    }

    /** Ends a delivery, successful or not. */
    void delivered() {
        undelivered.release(DELIVERY_BYTES);
        if (taken.decrementAndGet() == 0) {
            undelivered.release(charged);
            if (run != null) {
                run.release();
                undelivered.releaseRun(length);
            }
        }
    }
}
