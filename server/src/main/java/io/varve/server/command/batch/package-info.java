/** The requests that arrived together on a connection: their arguments, their keys, and the keys' prefetch. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.batch;
