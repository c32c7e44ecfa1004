package io.varve.ycsb.connection;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import site.ycsb.DBException;

/**
 * A client cannot start; the message is one line. Immutable.
 *
 * <p>YCSB prints the stack trace of each thread's exception, to both streams. So the first call prints the line, and
 * later calls print nothing. The cause is available to callers.
 */
public final class RefusedException extends DBException {

    private static final long serialVersionUID = 1L;
    /** The printed lines: few, as a process has one configuration. */
    private static final Set<String> REPORTED = ConcurrentHashMap.newKeySet();

    private final String line;

    public RefusedException(String line, Throwable cause) {
        super(line, cause);
        this.line = line;
    }

    @Override
    public void printStackTrace(PrintStream to) {
        if (REPORTED.add(line)) {
            to.println("varve: " + line);
        }
    }

    @Override
    public void printStackTrace(PrintWriter to) {
        if (REPORTED.add(line)) {
            to.println("varve: " + line);
        }
    }
}
