package io.varve.server.command.dispatch;

/** Schedules tasks on an event loop. Thread-safe. */
public interface EventLoopExecutor {
    /** Runs the task soon; never if the event loop has ended. */
    void execute(Runnable task);

    /** Runs the task after a delay. Call it on the event loop. */
    void schedule(Runnable task, long millis);

    /**
     * Gives the other connections of the loop a turn in the middle of a task: a script that takes long. Call it on the
     * event loop.
     */
    default void serveOthers() {}
}
