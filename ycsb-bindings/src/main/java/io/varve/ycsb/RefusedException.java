package io.varve.ycsb;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import site.ycsb.DBException;

/**
 * Why a client does not start, as one line. Immutable.
 *
 * <p>YCSB has no other way to say it than to print the stack trace of each thread's exception, to both streams: of these
 * the first one prints the line, and the others nothing. The cause is there for who asks.
 */
public final class RefusedException extends DBException {

    private static final long serialVersionUID = 1L;
    /** What was said: few lines, as a process has one configuration. */
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final String line;

    public RefusedException(String line, Throwable cause) {
        super(line, cause);
        this.line = line;
    }

    @Override
    public void printStackTrace(PrintStream to) {
        if (TOLD.add(line)) {
            to.println("varve: " + line);
        }
    }

    @Override
    public void printStackTrace(PrintWriter to) {
        if (TOLD.add(line)) {
            to.println("varve: " + line);
        }
    }
}
