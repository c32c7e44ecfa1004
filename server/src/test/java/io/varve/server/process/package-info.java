/** The server as a process: start, listeners, signals, faults, TLS and soak runs. */
@org.jspecify.annotations.NullMarked
package io.varve.server.process;
