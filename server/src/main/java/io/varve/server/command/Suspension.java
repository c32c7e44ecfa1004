package io.varve.server.command;

import java.util.function.BooleanSupplier;
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
    private final BooleanSupplier atTimeout;
    private final boolean replies;
    private final boolean noticed;
    private volatile boolean endable;
    private @Nullable Consumer<ReplyWriter> answer;
    private @Nullable Runnable wakeUp;
    /** The event loop's own. */
    private @Nullable Runnable whenOver;

    Suspension(long timeoutMillis, Consumer<ReplyWriter> atTimeout) {
        this.timeoutMillis = timeoutMillis;
        this.atTimeout = () -> answer(atTimeout);
        replies = true;
        noticed = true;
    }

    private Suspension(long timeoutMillis, @Nullable BooleanSupplier atTimeout, boolean noticed) {
        this.timeoutMillis = timeoutMillis;
        this.atTimeout = atTimeout == null ? () -> answer(_ -> {}) : atTimeout;
        this.noticed = noticed;
        replies = false;
    }

    /** One whose end is no reply: the command that waits has not run yet. */
    static Suspension silent() {
        return new Suspension(0, () -> false, true);
    }

    /** The same, and the command runs when the time is over, whatever it waited for. */
    public static Suspension silent(long timeoutMillis) {
        return new Suspension(timeoutMillis, null, true);
    }

    /** The same for so short a time that nobody is told that the client waits. */
    static Suspension unnoticed() {
        return new Suspension(0, () -> false, false);
    }

    /**
     * The same, and the command runs when the time is over, whatever it waited for.
     *
     * @param timeoutMillis 0: for ever
     * @param atTimeout     done then, before
     * @param noticed       whether others are told that the client waits
     */
    static Suspension held(long timeoutMillis, Runnable atTimeout, boolean noticed) {
        Suspension[] made = new Suspension[1];
        made[0] = new Suspension(timeoutMillis, () -> {
            atTimeout.run();
            return made[0].answer(_ -> {});
        }, noticed);
        return made[0];
    }

    /**
     * One whose end is no reply: the command has run, without an effect, and runs {@link #again}.
     *
     * @param timeoutMillis how long to wait at most; 0: for ever
     * @param atTimeout     done then: it may see to it that the command runs again, and tells whether it did
     */
    static Suspension toRunAgain(long timeoutMillis, BooleanSupplier atTimeout) {
        return new Suspension(timeoutMillis, atTimeout, true);
    }

    /** Whether CLIENT LIST and INFO tell that the client waits. */
    public boolean noticed() {
        return noticed;
    }

    /** Other clients may end it (CLIENT UNBLOCK). */
    public void letOthersEndIt() {
        endable = true;
    }

    /** Whether other clients may end it. */
    boolean isEndable() {
        return endable;
    }

    /** Whether its answer is the command's reply. */
    public boolean replies() {
        return replies;
    }

    /** How long to wait at most, in ms; 0: for ever. */
    public long timeoutMillis() {
        return timeoutMillis;
    }

    /**
     * Ends the waiting with what writes the reply, on the client's event loop. Without effect after the first time.
     *
     * @return whether this was the first
     */
    public boolean answer(Consumer<ReplyWriter> writer) {
        Runnable wake;
        synchronized (this) {
            if (answer != null) {
                return false;
            }
            answer = writer;
            wake = wakeUp;
        }
        if (wake != null) {
            wake.run();
        }
        return true;
    }

    /** Ends the waiting of a command that is to run now, or once more. */
    public void again() {
        answer(_ -> {});
    }

    /** The time is over. */
    public void timeOut() {
        endAsAtTimeout();
    }

    /** Ends the waiting as if the time were over. @return whether that ended it */
    boolean endAsAtTimeout() {
        return atTimeout.getAsBoolean();
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

    /** Has something done, on the client's event loop, once the answer is written or the connection has ended. */
    public void whenOver(Runnable action) {
        whenOver = action;
    }

    /** The answer is written, or nobody waits for it any more. On the client's event loop; without effect the second time. */
    public void over() {
        Runnable action = whenOver;
        whenOver = null;
        if (action != null) {
            action.run();
        }
    }

    /** What writes the reply, or null while there is none. */
    public synchronized @Nullable Consumer<ReplyWriter> answer() {
        return answer;
    }

    /** Whether there is an answer. */
    public synchronized boolean answered() {
        return answer != null;
    }
}
