/** Makes this server a replica: connects to a primary, loads its snapshot and runs its changes. */
@NullMarked
package io.varve.server.following;

import org.jspecify.annotations.NullMarked;
