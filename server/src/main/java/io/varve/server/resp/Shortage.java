package io.varve.server.resp;

/** Which limit a request has met while it arrived, so that it cannot run. Immutable. */
public enum Shortage {
    /** It has arrived whole. */
    NONE,
    /** Maxmemory had no room for an argument. */
    MAXMEMORY,
    /** The heap's budget for arguments ({@link ArgumentMemory}) had no room for all arguments or keys. */
    ARGUMENT_MEMORY
}
