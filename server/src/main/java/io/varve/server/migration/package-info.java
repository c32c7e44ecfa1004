/** Moves the keys of hash slots to their new owners, as the slot map of the controllers declares it. */
@org.jspecify.annotations.NullMarked
package io.varve.server.migration;
