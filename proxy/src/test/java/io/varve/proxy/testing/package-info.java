/** Servers and proxies that tests start, and clients for them. */
@org.jspecify.annotations.NullMarked
package io.varve.proxy.testing;
