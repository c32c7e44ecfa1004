/**
 * The way of a request to the member that serves its slot: redirections, retries and time limits.
 *
 * <p>This package must not know clients or the meaning of commands.
 */
@org.jspecify.annotations.NullMarked
package io.varve.proxy.route;
