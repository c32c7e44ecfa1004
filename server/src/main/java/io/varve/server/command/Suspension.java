package io.varve.server.command;

import java.util.function.Consumer;

import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A command that answers later: its client waits, and nothing that the client sent after it runs before. Guarded by
 * itself; any thread may answer, and the first answer counts.
 *
 * <p>A handler asks for one with {@link Invocation#suspend} and returns without a reply. The connection then waits,
 * without holding up its event loop, for {@link #answer} or the end of the time.
 */
public final class Suspension {
    private final long timeoutMillis;
    private final Consumer<ReplyWriter> atTimeout;
    private final boolean replies;
    private @Nullable Consumer<ReplyWriter> answer;
    private @Nullable Runnable wakeUp;

    Suspension(long timeoutMillis, Consumer<ReplyWriter> atTimeout) {
        this(timeoutMillis, atTimeout, true);
    }

    private Suspension(long timeoutMillis, Consumer<ReplyWriter> atTimeout, boolean replies) {
        this.timeoutMillis = timeoutMillis;
        this.atTimeout = atTimeout;
        this.replies = replies;
    }

    /** One whose end is no reply: the command that waits has not run yet. */
    static Suspension silent() {
        return new Suspension(0, _ -> {}, false);
    }

    /** Whether its answer is the command's reply. */
    boolean replies() {
        return replies;
    }

    /** How long to wait at most, in ms; 0: for ever. */
    public long timeoutMillis() {
        return timeoutMillis;
    }

    /** Ends the waiting with what writes the reply, on the client's event loop. Without effect after the first time. */
    public void answer(Consumer<ReplyWriter> writer) {
        Runnable wake;
        synchronized (this) {
            if (answer != null) {
                return;
            }
            answer = writer;
            wake = wakeUp;
        }
        if (wake != null) {
            wake.run();
        }
    }

    /** Ends the waiting with the reply for the end of the time. */
    public void timeOut() {
        answer(atTimeout);
    }

    /**
     * Says what is to be run once there is an answer: by the thread that answers, or at once if there is one already.
     */
    public void onAnswer(Runnable wake) {
        boolean answered;
        synchronized (this) {
            wakeUp = wake;
            answered = answer != null;
        }
        if (answered) {
            wake.run();
        }
    }

    /** What writes the reply, or null while there is none. */
    synchronized @Nullable Consumer<ReplyWriter> answer() {
        return answer;
    }

    /** Whether there is an answer. */
    public synchronized boolean answered() {
        return answer != null;
    }
}
