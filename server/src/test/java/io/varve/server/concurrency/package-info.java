/** Many clients at a time: linearizability, and races of single features. */
@org.jspecify.annotations.NullMarked
package io.varve.server.concurrency;
