/** Tests of servers that are members of a cluster, beside real Redis clusters and with cluster clients. */
@org.jspecify.annotations.NullMarked
package io.varve.server.cluster;
