package io.varve.server.command.dispatch;

/** What an event loop is to do later. Many threads. */
public interface LoopTasks {
    /** Soon; never if the event loop has ended. */
    void execute(Runnable task);

    /** The same after a time. By the event loop itself. */
    void schedule(Runnable task, long millis);
}
