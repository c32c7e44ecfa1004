/**
 * Commands on keys of any type: deletion, renaming, copies, expiry, and scans over all keys.
 *
 * <p>This package holds the generic commands that do not depend on the value. It must not hold those that do (packages
 * {@code sort} and {@code dump}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.key;
