package io.varve.server.command.dispatch;

/** The outcome of a command. */
enum Outcome {
    /** Its handler ran and replied, or its wait ended and was answered. */
    COMPLETED,
    /** Its handler ran and replied an error. */
    FAILED,
    /** It was queued in a transaction. */
    QUEUED,
    /** It was refused before it ran. */
    REFUSED,
    /** Its handler ran; its reply follows when the wait of its client ends. */
    PARKED,
    /** It has not run, or ran without effect; it runs again after the wait of its client. */
    RETRY;

    /** Whether the handler ran and will not run again. */
    boolean hasRun() {
        return this == COMPLETED || this == FAILED || this == PARKED;
    }

    /** Whether the client waits. */
    boolean isWaiting() {
        return this == PARKED || this == RETRY;
    }
}
