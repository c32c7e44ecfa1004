package io.varve.server.command.session;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * A command that replies later: its client waits, and its following commands do not run until then. Guarded by its own
 * monitor; any thread may answer, and the first answer counts.
 *
 * <p>A handler creates one with {@link io.varve.server.command.CommandContext#park} and returns without a reply. The
 * connection then waits for {@link #answer} or the timeout without blocking its event loop.
 */
public final class ParkedCommand {
    private final long timeoutMillis;
    private final BooleanSupplier atTimeout;
    private final boolean replies;
    private final boolean visible;
    private volatile boolean endable;
    private @Nullable Consumer<ReplyWriter> answer;
    private @Nullable Runnable wakeUp;
    /** Confined to the event loop. */
    private @Nullable Runnable onFinish;

    public ParkedCommand(long timeoutMillis, Consumer<ReplyWriter> atTimeout) {
        this.timeoutMillis = timeoutMillis;
        this.atTimeout = () -> answer(atTimeout);
        replies = true;
        visible = true;
    }

    private ParkedCommand(long timeoutMillis, @Nullable BooleanSupplier atTimeout, boolean visible) {
        this.timeoutMillis = timeoutMillis;
        this.atTimeout = atTimeout == null ? () -> answer(_ -> {}) : atTimeout;
        this.visible = visible;
        replies = false;
    }

    /** Parks a command that has not run yet, so its end writes no reply. */
    public static ParkedCommand silent() {
        return new ParkedCommand(0, () -> false, true);
    }

    /** Parks a command that has not run yet, and runs it at the latest after the timeout. */
    public static ParkedCommand silent(long timeoutMillis) {
        return new ParkedCommand(timeoutMillis, null, true);
    }

    /** Parks a command for so short a time that CLIENT LIST and INFO do not show it. */
    public static ParkedCommand hidden() {
        return new ParkedCommand(0, () -> false, false);
    }

    /**
     * Parks a command that has not run yet, and runs it at the latest after the timeout.
     *
     * @param timeoutMillis 0: no timeout
     * @param atTimeout runs at the timeout, before the command
     */
    public static ParkedCommand delayed(long timeoutMillis, Runnable atTimeout) {
        ParkedCommand[] made = new ParkedCommand[1];
        made[0] = new ParkedCommand(timeoutMillis, () -> {
            atTimeout.run();
            return made[0].answer(_ -> {});
        }, true);
        return made[0];
    }

    /**
     * Parks a command that has run without effect and runs {@link #resume}, so its end writes no reply.
     *
     * @param timeoutMillis maximum wait, ms; 0: no timeout
     * @param atTimeout runs at the timeout: may make the command run again, and returns whether it did
     */
    public static ParkedCommand forRetry(long timeoutMillis, BooleanSupplier atTimeout) {
        return new ParkedCommand(timeoutMillis, atTimeout, true);
    }

    /** Whether CLIENT LIST and INFO show that the client waits. */
    public boolean isVisible() {
        return visible;
    }

    /** Allows other clients to end the wait (CLIENT UNBLOCK). */
    public void allowUnblock() {
        endable = true;
    }

    /** Whether other clients may end the wait. */
    public boolean isEndable() {
        return endable;
    }

    /** Whether the answer is the command's reply. */
    public boolean replies() {
        return replies;
    }

    /** Maximum wait, ms; 0: no timeout. */
    public long timeoutMillis() {
        return timeoutMillis;
    }

    /**
     * Ends the wait with a reply, written on the client's event loop. Without effect after the first time.
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

    /** Ends the wait of a command that runs afterwards, for the first time or again. */
    public void resume() {
        answer(_ -> {});
    }

    /** Ends the wait at the timeout. */
    public void timeOut() {
        endAsAtTimeout();
    }

    /** Ends the wait as the timeout does. @return whether that ended it */
    public boolean endAsAtTimeout() {
        return atTimeout.getAsBoolean();
    }

    /**
     * Sets the action that runs once there is an answer: on the answering thread, or at once if there is one already.
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

    /** Sets the action that runs on the client's event loop after the answer is written or the connection has ended. */
    public void onFinish(Runnable action) {
        onFinish = action;
    }

    /**
     * Marks the answer as written, or the client as disconnected. On the client's event loop; without effect the second
     * time.
     */
    public void finish() {
        Runnable action = onFinish;
        onFinish = null;
        if (action != null) {
            action.run();
        }
    }

    /** The writer of the reply; null while there is none. */
    public synchronized @Nullable Consumer<ReplyWriter> answer() {
        return answer;
    }

    public synchronized boolean answered() {
        return answer != null;
    }
}
