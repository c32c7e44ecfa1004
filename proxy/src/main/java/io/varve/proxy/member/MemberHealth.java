package io.varve.proxy.member;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the proxy's own traffic says about a member: latency, failures, and whether it is ejected. Thread-safe: all
 * event loops share it.
 *
 * <pre>
 *        failure            3rd failure in a row
 *   UP ----------> SUSPECT ---------------------> EJECTED
 *    ^  any reply     |                              |  one loop at a time probes after a pause
 *    +----------------+------------------------------+  that grows from 50 ms to 2 s
 * </pre>
 *
 * <p>Requests for an ejected member fail at once unless a connection to it still exists.
 */
public final class MemberHealth {
    /** Failures in a row that eject a member. */
    static final int EJECTING_FAILURES = 3;
    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int MAX_DOUBLINGS = 6;
    /** The weight of a new mean in the average is 1/16. */
    private static final int AVERAGE_SHIFT = 4;

    private final AtomicInteger failuresInRow = new AtomicInteger();
    private final AtomicBoolean probing = new AtomicBoolean();
    private final LongAdder requests = new LongAdder();
    private final LongAdder writes = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder timeouts = new LongAdder();
    private final LongAdder errorReplies = new LongAdder();
    private final LongAdder ejections = new LongAdder();
    private volatile long retryAtNanos;
    private volatile long averageNanos;
    private volatile long maxNanos;
    private volatile String lastFailure = "";

    /** The state that INFO shows. */
    public enum State {
        UP, SUSPECT, EJECTED
    }

    public State state() {
        int inRow = failuresInRow.get();
        return inRow == 0 ? State.UP : inRow < EJECTING_FAILURES ? State.SUSPECT : State.EJECTED;
    }

    /** Whether a connection may be opened for a request. */
    boolean admits(long now) {
        return switch (state()) {
            case UP -> true;
            case SUSPECT -> now - retryAtNanos >= 0;
            case EJECTED -> false;
        };
    }

    /** Whether the caller is to probe an ejected member now; it reports {@link #failed} or {@link #connected}. */
    boolean tryProbe(long now) {
        return state() == State.EJECTED && now - retryAtNanos >= 0 && probing.compareAndSet(false, true);
    }

    /** A connection was opened, and the member answers on it. */
    void connected() {
        failuresInRow.set(0);
        probing.set(false);
    }

    /** A connection could not be opened, or broke while requests were in flight. */
    void failed(long now, String reason) {
        failures.increment();
        lastFailure = reason;
        int inRow = failuresInRow.incrementAndGet();
        long pause = Math.min(MAX_PAUSE_NANOS, MIN_PAUSE_NANOS << Math.min(inRow - 1, MAX_DOUBLINGS));
        // Proxies that lost a member together should not return to it together.
        retryAtNanos = now + pause - ThreadLocalRandom.current().nextLong(pause / 4);
        if (inRow == EJECTING_FAILURES) {
            ejections.increment();
        }
        probing.set(false);
    }

    void timedOut() {
        timeouts.increment();
    }

    /** A system call with so many requests. */
    void written(int count) {
        requests.add(count);
        writes.increment();
    }

    /** A reply has come, which ends an ejection. */
    void replied() {
        if (failuresInRow.get() != 0) {
            connected();
        }
    }

    /**
     * Replies have come together. Races between loops lose a sample at most.
     *
     * @param meanNanos of the replies
     * @param slowestNanos of the slowest one
     */
    void answered(long meanNanos, long slowestNanos) {
        replied();
        long average = averageNanos;
        averageNanos = average == 0 ? meanNanos : average + (meanNanos - average >> AVERAGE_SHIFT);
        if (slowestNanos > maxNanos) {
            maxNanos = slowestNanos;
        }
    }

    void errorReply() {
        errorReplies.increment();
    }

    /** The fields of a line of INFO. */
    public String fields() {
        return "state=" + state().name().toLowerCase(java.util.Locale.ROOT) + ",requests=" + requests.sum()
                + ",writes=" + writes.sum() + ",latency_avg_us=" + averageNanos / 1000 + ",latency_max_us="
                + maxNanos / 1000 + ",error_replies=" + errorReplies.sum() + ",failures=" + failures.sum()
                + ",timeouts=" + timeouts.sum() + ",ejections=" + ejections.sum() + ",last_failure="
                + lastFailure.replaceAll("[,\\p{Cntrl}]", " ");
    }

    /** Requests sent so far. */
    public long requests() {
        return requests.sum();
    }
}
