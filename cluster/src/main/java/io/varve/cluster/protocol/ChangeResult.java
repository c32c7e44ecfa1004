package io.varve.cluster.protocol;

/**
 * The reply to a {@link Command}. Immutable.
 *
 * @param accepted false: the cluster is as before, and {@code reason} says why
 * @param epoch of the map after the command
 * @param generation of the registered process; 0 for other commands
 * @param reason empty if accepted
 */
public record ChangeResult(boolean accepted, long epoch, long generation, String reason) {}
