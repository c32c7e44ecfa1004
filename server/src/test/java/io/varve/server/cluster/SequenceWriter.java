package io.varve.server.cluster;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.server.testing.RawReply;
import io.varve.testing.TestBudget;

/**
 * Sets a key to 1, 2, 3 and so on, wherever its slot is served, without WAIT. It has a thread of its own; any thread
 * reads its figures.
 */
final class SequenceWriter {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS
            .toNanos(TestBudget.of("varve.cluster.write-pause-millis", 3, 1));

    private final List<Integer> ports;
    private final String key;
    private final Thread thread = Thread.ofPlatform().name("sequence").unstarted(this::run);
    private volatile boolean isEnded;
    private volatile long acknowledged;
    private volatile long attempted;
    private volatile long longestPauseNanos;
    private volatile long lostConnections;

    /** @param ports of all members */
    private SequenceWriter(List<Integer> ports, String key) {
        this.ports = ports;
        this.key = key;
    }

    static SequenceWriter start(List<Integer> ports, String key) {
        SequenceWriter writer = new SequenceWriter(ports, key);
        writer.thread.start();
        return writer;
    }

    private void run() {
        long last = System.nanoTime();
        long value = 0;
        long lost = 0;
        for (int i = 0; !isEnded; i++) {
            try (FollowingClient client = new FollowingClient(ports.get(i % ports.size()))) {
                while (!isEnded) {
                    value++;
                    attempted = value;
                    RawReply reply = client.call(key, "SET", key, Long.toString(value));
                    if (!reply.isError()) {
                        acknowledged = value;
                        long now = System.nanoTime();
                        longestPauseNanos = Math.max(longestPauseNanos, now - last);
                        last = now;
                    }
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            } catch (IOException failed) {
                // The member has gone: another one may know who serves the slot.
                lost += FollowingClient.isRedirectLoop(failed) ? 0 : 1;
                lostConnections = lost;
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    String key() {
        return key;
    }

    /** The greatest value whose SET was acknowledged. */
    long acknowledged() {
        return acknowledged;
    }

    /** The greatest value that was sent. */
    long attempted() {
        return attempted;
    }

    /** Connections that a member has refused or closed. */
    long lostConnections() {
        return lostConnections;
    }

    /** The longest time between two acknowledged writes since the last call. */
    long takeLongestPauseMillis() {
        long pause = longestPauseNanos;
        longestPauseNanos = 0;
        return TimeUnit.NANOSECONDS.toMillis(pause);
    }

    /** Ends the writes. */
    void end() throws InterruptedException {
        isEnded = true;
        thread.join();
    }
}
