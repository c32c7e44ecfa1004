/**
 * Connections of clients: requests in, replies in order out, and what the proxy does for each command.
 *
 * <p>This package must not know connections of members beyond their lanes.
 */
@org.jspecify.annotations.NullMarked
package io.varve.proxy.client;
