/** The controller: the replicated state of the cluster, leases, and fail-over. */
@NullMarked
package io.varve.cluster.controller;

import org.jspecify.annotations.NullMarked;
