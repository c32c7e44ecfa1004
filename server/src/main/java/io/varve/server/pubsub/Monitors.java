package io.varve.server.pubsub;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.ReplyWriter;

/**
 * The clients that are told of every command that is executed. Many threads: who tells reads an array that is replaced, by one thread
 * at a time, guarded by itself.
 *
 * <p>A line is told once and kept once, for all of them, and charged until everyone has it. Lines of one event loop
 * come in the order in which it told them; those of two in any order. The memory is the monitors' own, so that neither they nor those who
 * listen to messages suffer from each other.
 */
public final class Monitors {
    private static final Subscriber[] NOBODY = {};
    /** The line's object, the string and its array. */
    private static final int LINE_HEAP_BYTES = 96;
    /** A place in an inbox. */
    private static final int DELIVERY_HEAP_BYTES = 32;
    /** The sign in front of it and the line's end. */
    private static final int FRAME_BYTES = 3;

    private final ArgumentMemory memory;
    private volatile Subscriber[] members = NOBODY;

    /** @param memory what lines are charged to until they are delivered */
    Monitors(ArgumentMemory memory) {
        this.memory = memory;
    }

    /** A line on its way. Many threads: immutable, but for the count. */
    private static final class Line implements Mail {
        private final String text;
        private final ArgumentMemory memory;
        private final long charged;
        private final AtomicInteger outstanding;

        Line(String text, ArgumentMemory memory, long charged, int deliveries) {
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
        public boolean isWantedBy(Subscriptions client) {
            return client.isMonitoring();
        }

        @Override
        public void writeTo(ReplyWriter reply) {
            reply.simple(text);
        }

        @Override
        public void delivered() {
            if (outstanding.decrementAndGet() == 0) {
                memory.give(charged);
            }
        }
    }

    /** Whether there is any. */
    public boolean isAny() {
        return members.length > 0;
    }

    /**
     * Tells all of them.
     *
     * @param text of ASCII, without a line's end
     * @return false, and nobody is told, if too much is not delivered yet
     */
    public boolean tell(String text) {
        Subscriber[] now = members;
        if (now.length == 0) {
            return true;
        }
        long bytes = LINE_HEAP_BYTES + text.length() + (long) DELIVERY_HEAP_BYTES * now.length;
        if (!memory.take(bytes)) {
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

    /** Bytes of the heap that lines hold which are not delivered yet. */
    long undeliveredBytes() {
        return memory.takenBytes();
    }

    /** One more, who is not among them. */
    synchronized void join(Subscriber subscriber) {
        Subscriber[] after = Arrays.copyOf(members, members.length + 1);
        after[after.length - 1] = subscriber;
        members = after;
    }

    /** One less. */
    synchronized void leave(Subscriber subscriber) {
        members = Arrays.stream(members).filter(other -> !other.equals(subscriber)).toArray(Subscriber[]::new);
    }
}
