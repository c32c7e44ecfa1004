package io.varve.server.command;

/** The errors that many commands reply. Immutable: constants only. */
public final class Errors {
    public static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";
    public static final String NOT_A_FLOAT = "ERR value is not a valid float";
    public static final String SYNTAX_ERROR = "ERR syntax error";
    public static final String WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
    /** There is no room, in maxmemory or on the heap, and nothing that could go. */
    public static final String OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";
    /** Of integers. */
    public static final String OVERFLOW = "ERR increment or decrement would overflow";
    /** Of floats. */
    public static final String NOT_FINITE = "ERR increment would produce NaN or Infinity";

    private Errors() {}
}
