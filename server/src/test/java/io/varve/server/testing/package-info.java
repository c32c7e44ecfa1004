/** What tests of the server share: servers, clients, replies and a stub of the cache. */
@org.jspecify.annotations.NullMarked
package io.varve.server.testing;
