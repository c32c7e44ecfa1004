/** The server at its limits: full memory, large keys, values and requests, and clients that do not read. */
@org.jspecify.annotations.NullMarked
package io.varve.server.pressure;
