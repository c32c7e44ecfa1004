/**
 * The proxy of a cluster as a program: its settings, its sockets and event loops.
 *
 * <p>This package wires the other packages together. It must not hold the handling of a request.
 */
@org.jspecify.annotations.NullMarked
package io.varve.proxy;
