/** The connection of a server to the controllers of its cluster. */
@NullMarked
package io.varve.server.membership;

import org.jspecify.annotations.NullMarked;
