/**
 * Replies and requests as bytes: where a reply ends, what it says, and how pieces are written together.
 *
 * <p>This package must not know members, clients or slots.
 */
@org.jspecify.annotations.NullMarked
package io.varve.proxy.resp;
