/**
 * The HTTP endpoint for operators: metrics and health.
 *
 * <p>Lives here: its event loop, its channels, what is wrong with a request. Must not live here: what is measured, and anything of the
 * Redis protocol.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.admin.http;
