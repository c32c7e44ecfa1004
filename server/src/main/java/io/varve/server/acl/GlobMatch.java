package io.varve.server.acl;

/** Matches native bytes against a glob pattern in native memory. Immutable; package {@code command} implements it. */
@FunctionalInterface
public interface GlobMatch {
    boolean matches(long pattern, int patternLength, long text, int textLength);
}
