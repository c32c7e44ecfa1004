package io.varve.experiments.definition;

/** An experiment, or a part of one, was asked for that cannot be: the message is one line for the user. Immutable. */
public final class InvalidExperimentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public InvalidExperimentException(String message) {
        super(message);
    }

    public InvalidExperimentException(String message, Throwable cause) {
        super(message, cause);
    }
}
