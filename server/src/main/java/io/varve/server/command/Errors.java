package io.varve.server.command;

import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.Shortage;

/** The errors that many commands reply. Immutable: constants only. */
public final class Errors {
    public static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";
    public static final String OUT_OF_RANGE = "ERR value is out of range";
    /** The one integer that cannot be negated. */
    public static final String NOT_NEGATABLE = OUT_OF_RANGE
            + ", value must between -9223372036854775807 and 9223372036854775807";
    public static final String NOT_A_FLOAT = "ERR value is not a valid float";
    public static final String SYNTAX_ERROR = "ERR syntax error";
    public static final String WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
    /** There is no room in maxmemory, and nothing that could go. */
    public static final String OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";
    /** The heap's budget for what requests keep there has no room: see {@link io.varve.server.resp.ArgumentMemory}. */
    public static final String OUT_OF_ARGUMENT_MEMORY = "OOM the heap's budget for arguments and keys of requests is used"
            + " up: send fewer of them in one request";
    /** Of integers. */
    public static final String OVERFLOW = "ERR increment or decrement would overflow";
    /** Of floats. */
    public static final String NOT_FINITE = "ERR increment would produce NaN or Infinity";

    private Errors() {}

    /** The error for a request that met a limit while it arrived. */
    public static String of(Shortage shortage) {
        return switch (shortage) {
            case ARGUMENT_MEMORY -> OUT_OF_ARGUMENT_MEMORY;
            case MAXMEMORY, NONE -> OUT_OF_MEMORY;
        };
    }

    /** The error for a reply that found no memory. */
    public static String of(NoBufferException none) {
        return none.roomHelps() ? OUT_OF_MEMORY : OUT_OF_ARGUMENT_MEMORY;
    }
}
