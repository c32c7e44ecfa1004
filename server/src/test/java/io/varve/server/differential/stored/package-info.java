/**
 * Tests that values and libraries that one server has stored are the same in the other: dumps, snapshots and logs.
 *
 * <p>This package holds these tests. It must not hold the comparisons of replies (package {@code differential}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.differential.stored;
