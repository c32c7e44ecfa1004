/** The check whether a sequential store could have given the replies of concurrent clients. */
@org.jspecify.annotations.NullMarked
package io.varve.server.linearizability;
