/** What this server knows of its cluster: its ID, the slot map, its lease, and the file that keeps them. */
@org.jspecify.annotations.NullMarked
package io.varve.server.clustering;
