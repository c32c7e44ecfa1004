/** The metrics for Prometheus, and the health of the server. */
@org.jspecify.annotations.NullMarked
package io.varve.server.admin.metrics;
