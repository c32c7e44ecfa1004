/**
 * Sharing of answers among identical reads in flight, and what writes do to it.
 *
 * <p>This package must not know members, slots or clients.
 */
@org.jspecify.annotations.NullMarked
package io.varve.proxy.merge;
