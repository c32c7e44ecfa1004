package io.varve.server.resp;

/** The limit that an arriving request exceeded, so that it cannot run. Immutable. */
public enum Shortage {
    /** The request has arrived completely. */
    NONE(0),
    /** Maxmemory had no free memory for an argument. */
    MAXMEMORY(1),
    /** The heap budget for arguments ({@link RequestHeapBudget}) was too small for all arguments or keys. */
    ARGUMENT_MEMORY(2);

    private final byte code;

    Shortage(int code) {
        this.code = (byte) code;
    }

    /** The code in a table; 0 for {@link #NONE}. */
    public byte code() {
        return code;
    }

    /** The shortage with a code. */
    public static Shortage of(byte code) {
        return switch (code) {
            case 0 -> NONE;
            case 1 -> MAXMEMORY;
            default -> ARGUMENT_MEMORY;
        };
    }
}
