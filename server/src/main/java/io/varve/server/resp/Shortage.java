package io.varve.server.resp;

/** Which limit a request has met while it arrived, so that it cannot run. Immutable. */
public enum Shortage {
    /** It has arrived whole. */
    NONE(0),
    /** Maxmemory had no room for an argument. */
    MAXMEMORY(1),
    /** The heap's budget for arguments ({@link ArgumentMemory}) had no room for all arguments or keys. */
    ARGUMENT_MEMORY(2);

    private final byte code;

    Shortage(int code) {
        this.code = (byte) code;
    }

    /** What stands for it in a table; 0 for {@link #NONE}. */
    public byte code() {
        return code;
    }

    /** The one that a code stands for. */
    public static Shortage of(byte code) {
        return switch (code) {
            case 0 -> NONE;
            case 1 -> MAXMEMORY;
            default -> ARGUMENT_MEMORY;
        };
    }
}
