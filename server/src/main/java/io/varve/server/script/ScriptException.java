package io.varve.server.script;

/** A script or library that cannot be used, with the text of the error reply. Immutable. */
public final class ScriptException extends Exception {
    private static final long serialVersionUID = 1;

    /** @param reply the whole reply, in which each char is a byte */
    public ScriptException(String reply) {
        super(reply, null, false, false);
    }

    /** The error reply; each char is a byte. */
    public String reply() {
        return String.valueOf(getMessage());
    }
}
