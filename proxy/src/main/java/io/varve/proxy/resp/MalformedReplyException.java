package io.varve.proxy.resp;

/** A member has sent bytes that are no reply. Immutable. */
public final class MalformedReplyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    MalformedReplyException(String what) {
        super(what, null, false, false);
    }
}
