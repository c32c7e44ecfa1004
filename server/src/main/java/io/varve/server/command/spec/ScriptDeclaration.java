package io.varve.server.command.spec;

/**
 * The flags of a script or function. The server admits or refuses it by them, before it runs. Immutable.
 *
 * <p>A script without a header has none: the server checks its commands one by one.
 *
 * @param writes whether it may call commands that write
 * @param needsMemory whether it does not run while memory is full
 * @param allowsStale whether it runs on a replica that lost its primary
 */
public record ScriptDeclaration(boolean writes, boolean needsMemory, boolean allowsStale) {}
