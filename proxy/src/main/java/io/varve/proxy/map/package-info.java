/**
 * Which member serves a slot, and where the proxy learns it: from the members of a cluster or from its settings.
 *
 * <p>This package must not know connections of clients or event loops.
 */
@org.jspecify.annotations.NullMarked
package io.varve.proxy.map;
