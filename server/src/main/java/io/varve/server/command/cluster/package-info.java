/** CLUSTER and the other commands about the cluster that this server is a member of. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.cluster;
