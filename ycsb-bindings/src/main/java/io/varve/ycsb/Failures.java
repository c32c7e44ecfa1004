package io.varve.ycsb;

import org.jspecify.annotations.Nullable;

/**
 * Says what failed: YCSB's status output counts failures without saying what they were. The first one of a client is told on
 * standard error, the others are counted. Guarded by itself: answers to fills may come on the thread of an event loop.
 */
final class Failures {

    private final int threadNumber;
    private long count;

    Failures(int threadNumber) {
        this.threadNumber = threadNumber;
    }

    /** An operation failed. */
    synchronized void tell(String operation, @Nullable String what) {
        count++;
        if (count == 1) {
            say(operation + " failed in thread " + threadNumber + " (further failures are only counted): " + what);
        }
    }

    /** The client ends. */
    synchronized void end() {
        if (count > 1) {
            say(count + " operations failed in thread " + threadNumber);
        }
    }

    /** What lies at the bottom of a failure. */
    static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    static void say(String line) {
        System.err.println("varve: " + line);
    }
}
