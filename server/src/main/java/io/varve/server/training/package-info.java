/**
 * The workload of the training run of the AOT cache: commands of all families, and the client that sends them.
 *
 * <p>Lives here: what only the training run needs. Must not live here: anything that a server needs. The package is a
 * part of the server's jar, because the cache is valid for the class path of the training run only.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.training;
