/** Tests of what a member of a cluster knows. */
@org.jspecify.annotations.NullMarked
package io.varve.server.clustering;
