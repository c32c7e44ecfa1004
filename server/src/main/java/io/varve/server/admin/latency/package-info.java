/** Latency figures: the latency monitor, the slow log, hiccups of the machine, and operation rates. */
@org.jspecify.annotations.NullMarked
package io.varve.server.admin.latency;
