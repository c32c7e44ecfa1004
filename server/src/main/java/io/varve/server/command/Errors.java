package io.varve.server.command;

import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.Shortage;

/** Error replies that many commands share. Immutable: constants only. */
public final class Errors {
    public static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";
    public static final String OUT_OF_RANGE = "ERR value is out of range";
    /** The one integer that cannot be negated. */
    public static final String NOT_NEGATABLE = OUT_OF_RANGE
            + ", value must between -9223372036854775807 and 9223372036854775807";
    public static final String NOT_A_FLOAT = "ERR value is not a valid float";
    public static final String SYNTAX_ERROR = "ERR syntax error";
    public static final String WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
    /** maxmemory is full, and nothing can be evicted. */
    public static final String OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";
    /** The heap budget for request data is exhausted: see {@link io.varve.server.resp.RequestHeapBudget}. */
    public static final String OUT_OF_ARGUMENT_MEMORY = "OOM the heap budget for arguments and keys of requests is used"
            + " up: send fewer of them in one request";
    /** The data of an earlier run is being loaded. */
    public static final String LOADING = "LOADING Redis is loading the dataset in memory";
    /** Writes to a replica. */
    public static final String READ_ONLY = "READONLY You can't write against a read only replica.";
    /** A client waited on a primary that becomes a replica. */
    public static final String NOW_A_REPLICA = "UNBLOCKED force unblocked from blocking operation, instance state"
            + " changed (master -> replica?)";
    /** For integers. */
    public static final String OVERFLOW = "ERR increment or decrement would overflow";
    /** For floats. */
    public static final String NOT_FINITE = "ERR increment would produce NaN or Infinity";

    private Errors() {}

    /**
     * An error that ends with text of the request. Line ends behind it are dropped, as Redis does where it formats an
     * error; those within become spaces when the error is written.
     */
    public static String endingWith(String error, String argument) {
        int end = argument.length();
        while (end > 0 && (argument.charAt(end - 1) == '\n' || argument.charAt(end - 1) == '\r')) {
            end--;
        }
        return error + argument.substring(0, end);
    }

    /** The error for a request that exceeded a memory limit while it arrived. */
    public static String of(Shortage shortage) {
        return switch (shortage) {
            case ARGUMENT_MEMORY -> OUT_OF_ARGUMENT_MEMORY;
            case MAXMEMORY, NONE -> OUT_OF_MEMORY;
        };
    }

    /** The error for a reply without buffer memory. */
    public static String of(NoBufferException none) {
        return none.isRecoverable() ? OUT_OF_MEMORY : OUT_OF_ARGUMENT_MEMORY;
    }
}
