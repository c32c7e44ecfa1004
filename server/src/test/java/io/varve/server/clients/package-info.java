/** Real client libraries and tools against the server. */
@org.jspecify.annotations.NullMarked
package io.varve.server.clients;
