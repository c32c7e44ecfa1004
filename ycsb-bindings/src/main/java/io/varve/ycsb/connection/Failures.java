package io.varve.ycsb.connection;

import org.jspecify.annotations.Nullable;

/**
 * Reports failures, since YCSB's status output only counts them: it prints the first one of a client on standard error
 * and counts the others. Guarded by {@code this}: replies to fills may arrive on an event loop's thread.
 */
public final class Failures {

    private final int threadNumber;
    private long count;

    public Failures(int threadNumber) {
        this.threadNumber = threadNumber;
    }

    /** Reports a failed operation. */
    public synchronized void report(String operation, @Nullable String what) {
        count++;
        if (count == 1) {
            print(operation + " failed in thread " + threadNumber + " (further failures are only counted): " + what);
        }
    }

    /** Reports the total at the client's end. */
    public synchronized void end() {
        if (count > 1) {
            print(count + " operations failed in thread " + threadNumber);
        }
    }

    /** The root cause of a failure. */
    public static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    public static void print(String line) {
        System.err.println("varve: " + line);
    }
}
