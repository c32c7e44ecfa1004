/** The slot map of a cluster: hash slots, members, and who owns which slot. Immutable values without a network. */
@NullMarked
package io.varve.cluster.map;

import org.jspecify.annotations.NullMarked;
