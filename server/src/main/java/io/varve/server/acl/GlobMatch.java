package io.varve.server.acl;

/** Matches native bytes against a pattern of native bytes. Immutable; the room of commands supplies it. */
@FunctionalInterface
public interface GlobMatch {
    boolean matches(long pattern, int patternLength, long text, int textLength);
}
