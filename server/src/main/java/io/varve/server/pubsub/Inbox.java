package io.varve.server.pubsub;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * The queue of messages that wait for one client. Many threads add messages, without a lock; only its client's event
 * loop removes them, until it has closed the inbox.
 */
final class Inbox {
    private final Queue<OutboundMessage> messages = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();
    /** Whether the event loop has been woken and has not read the inbox yet. */
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile boolean closed;

    /** @return false if the inbox is closed: the message still belongs to the caller */
    boolean put(OutboundMessage message) {
        if (closed) {
            return false;
        }
        bytes.addAndGet(message.wireBytes());
        messages.add(message);
        if (closed) {
            // The closing thread may have emptied it before.
            empty();
        }
        return true;
    }

    /** Whether the caller must wake the event loop: true once until {@link #beginRead}. */
    boolean shouldWake() {
        return !woken.get() && woken.compareAndSet(false, true);
    }

    /** Marks the begin of a read: a message that arrives later wakes the event loop again. */
    void beginRead() {
        woken.set(false);
    }

    /** The oldest message, which stays; null if there is none. */
    @Nullable
    OutboundMessage first() {
        return messages.peek();
    }

    /** Removes the oldest message and ends its delivery. @return whether there was one */
    boolean dropFirst() {
        OutboundMessage first = messages.poll();
        if (first == null) {
            return false;
        }
        bytes.addAndGet(-first.wireBytes());
        first.delivered();
        return true;
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    /** Approximate wire size of the messages. */
    long bytes() {
        return bytes.get();
    }

    /** Accepts no more messages, and drops the queued ones. */
    void close() {
        closed = true;
        empty();
    }

    private void empty() {
        boolean more = true;
        while (more) {
            more = dropFirst();
        }
    }
}
