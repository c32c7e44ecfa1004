/** The machine of each process in a test: its network, its disk and its clock. */
@org.jspecify.annotations.NullMarked
package io.varve.server.cluster.machine;
