package io.varve.server.pubsub;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;

/**
 * The clients that MONITOR sends every executed command to. Many threads: publishers read an array, which one thread at
 * a time replaces, guarded by {@code this}.
 *
 * <p>A line is stored once for all of them, and charged until every one has received it. Lines of one event loop arrive
 * in its order, those of two in any order. The memory budget is the monitors' own, so that monitors and subscribers do
 * not affect each other.
 */
public final class Monitors {
    private static final Subscriber[] NONE = {};
    /** Heap bytes of the line's object, the string and its array. */
    private static final int LINE_HEAP_BYTES = 96;
    /** Heap bytes of an inbox node. */
    private static final int DELIVERY_HEAP_BYTES = 32;
    /** The type byte and the line end. */
    private static final int FRAME_BYTES = 3;

    private final RequestHeapBudget memory;
    private volatile Subscriber[] members = NONE;

    /** @param memory budget of undelivered lines */
    Monitors(RequestHeapBudget memory) {
        this.memory = memory;
    }

    /** A line that is being delivered. Many threads: immutable, except the count. */
    private static final class Line implements OutboundMessage {
        private final String text;
        private final RequestHeapBudget memory;
        private final long charged;
        private final AtomicInteger outstanding;

        Line(String text, RequestHeapBudget memory, long charged, int deliveries) {
            this.text = text;
            this.memory = memory;
            this.charged = charged;
            outstanding = new AtomicInteger(deliveries);
        }

        @Override
        public long wireBytes() {
            return text.length() + (long) FRAME_BYTES;
        }

        @Override
        public boolean isDeliverableTo(Subscriptions client) {
            return client.isMonitoring();
        }

        @Override
        public void writeTo(ReplyWriter reply) {
            reply.simple(text);
        }

        @Override
        public void delivered() {
            if (outstanding.decrementAndGet() == 0) {
                memory.release(charged);
            }
        }
    }

    /** Whether there is any monitor. */
    public boolean isAny() {
        return members.length > 0;
    }

    /**
     * Sends a line to all monitors.
     *
     * @param text ASCII text without a line end
     * @return false, and no monitor receives it, if too much is undelivered
     */
    public boolean publish(String text) {
        Subscriber[] now = members;
        if (now.length == 0) {
            return true;
        }
        long bytes = LINE_HEAP_BYTES + text.length() + (long) DELIVERY_HEAP_BYTES * now.length;
        if (!memory.tryReserve(bytes)) {
            return false;
        }
        Line line = new Line(text, memory, bytes, now.length);
        for (Subscriber subscriber : now) {
            if (!subscriber.deliver(line)) {
                line.delivered();
            }
        }
        return true;
    }

    /** Heap bytes of undelivered lines. */
    long undeliveredBytes() {
        return memory.reservedBytes();
    }

    /** Adds a subscriber that is not among them. */
    synchronized void join(Subscriber subscriber) {
        Subscriber[] after = Arrays.copyOf(members, members.length + 1);
        after[after.length - 1] = subscriber;
        members = after;
    }

    /** Removes a subscriber. */
    synchronized void remove(Subscriber subscriber) {
        members = Arrays.stream(members).filter(other -> !other.equals(subscriber)).toArray(Subscriber[]::new);
    }
}
