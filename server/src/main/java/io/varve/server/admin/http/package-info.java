/**
 * The HTTP endpoint for operators: metrics and health.
 *
 * <p>Lives here: its event loop, its channels, the validation of requests. Must not live here: the metrics themselves,
 * and anything of the Redis protocol.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.admin.http;
