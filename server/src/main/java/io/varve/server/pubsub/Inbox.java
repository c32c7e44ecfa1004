package io.varve.server.pubsub;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * The letters that wait for one client. Many threads put letters in, without a lock; its client's event loop alone takes them out, until
 * it has closed the inbox.
 */
final class Inbox {
    private final Queue<Mail> letters = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();
    /** Whether the event loop has been told that there is something, and has not looked yet. */
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile boolean closed;

    /** @return false if the inbox is closed: the letter is still the caller's */
    boolean put(Mail letter) {
        if (closed) {
            return false;
        }
        bytes.addAndGet(letter.wireBytes());
        letters.add(letter);
        if (closed) {
            // Whoever closed it may have emptied it before.
            empty();
        }
        return true;
    }

    /** Whether the caller is to tell the event loop: once until {@link #looksInto}. */
    boolean isToBeTold() {
        return !woken.get() && woken.compareAndSet(false, true);
    }

    /** The event loop looks: what is put in from now on is told again. */
    void looksInto() {
        woken.set(false);
    }

    /** The oldest letter, which stays; null if there is none. */
    @Nullable
    Mail first() {
        return letters.peek();
    }

    /** Takes the oldest letter out and is done with it. @return whether there was one */
    boolean dropFirst() {
        Mail first = letters.poll();
        if (first == null) {
            return false;
        }
        bytes.addAndGet(-first.wireBytes());
        first.delivered();
        return true;
    }

    boolean isEmpty() {
        return letters.isEmpty();
    }

    /** What the letters take on the wire, about. */
    long bytes() {
        return bytes.get();
    }

    /** Takes no more letters, and drops those that are there. */
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
