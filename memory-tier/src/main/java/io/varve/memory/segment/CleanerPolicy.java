package io.varve.memory.segment;

/**
 * The values of {@code cleaner-policy}: formulas for the profit of cleaning a segment (redis-plus-plus, sections 3 and
 * 5.2). Immutable.
 */
public enum CleanerPolicy {
    /** (1-u)/u · √lifetime. The default. */
    MODIFIED,
    /** (1-u)/u · lifetime. */
    ORIGINAL,
    /** (1-u)/u. */
    GREEDY
}
