/** Test support of the server: servers, clients, replies and a stub of the cache. */
@org.jspecify.annotations.NullMarked
package io.varve.server.testing;
