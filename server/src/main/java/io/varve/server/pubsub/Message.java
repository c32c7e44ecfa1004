package io.varve.server.pubsub;

import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.item.ValueRun;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A message, once for all who get it. Many threads: immutable, but for an atomic count of the deliveries that are outstanding.
 *
 * <p>A short one is copied to the heap, a large one stays in the run in which it arrived. What it takes of the heap is charged until it
 * has been delivered to everybody.
 */
final class Message {
    /** Itself, its counter, the heads of its arrays. */
    private static final int HEAP_BYTES = 128;
    /** A place in an inbox, and the letter, which most share with others. */
    private static final int DELIVERY_BYTES = 64;

    private final Name channel;
    private final byte @Nullable [] bytes;
    private final @Nullable ValueRun run;
    private final int length;
    private final Backlog backlog;
    private final long charged;
    private final AtomicInteger taken;

    private Message(Name channel, Content content, long deliveries, Backlog backlog, long charged) {
        this.channel = channel;
        run = content.run();
        bytes = run == null ? content.toArray() : null;
        length = content.length();
        taken = new AtomicInteger(Math.toIntExact(deliveries));
        this.backlog = backlog;
        this.charged = charged;
        if (run != null) {
            run.retain();
            backlog.holdRun(length);
        }
    }

    /**
     * One that is held by so many deliveries.
     *
     * @param known the channel's name where somebody listens to it
     * @return null if the heap has no room for it
     */
    static @Nullable Message of(Name channel, @Nullable Name known, Content content, long deliveries,
            Backlog backlog) {
        long bytes = HEAP_BYTES;
        bytes += known == null ? channel.length() : 0;
        bytes += content.run() == null ? content.length() : 0;
        long all = bytes + DELIVERY_BYTES * deliveries;
        return backlog.take(all)
                ? new Message(known == null ? channel.kept() : known, content, deliveries, backlog, bytes)
                : null;
    }

    /** The channel's name, with bytes of its own. */
    Name channel() {
        return channel;
    }

    /** Bytes of what was published. */
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

    /** A delivery is over, whatever has become of it. */
    void delivered() {
        backlog.give(DELIVERY_BYTES);
        if (taken.decrementAndGet() == 0) {
            backlog.give(charged);
            if (run != null) {
                run.release();
                backlog.releaseRun(length);
            }
        }
    }
}
