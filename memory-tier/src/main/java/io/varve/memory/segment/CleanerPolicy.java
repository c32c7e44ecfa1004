package io.varve.memory.segment;

/** What {@code cleaner-policy} may be: the profit of cleaning a segment (redis-plus-plus, section 3 and 5.2). */
public enum CleanerPolicy {
    /** (1-u)/u · √lifetime. The default. */
    MODIFIED,
    /** (1-u)/u · lifetime. */
    ORIGINAL,
    /** (1-u)/u. */
    GREEDY
}
