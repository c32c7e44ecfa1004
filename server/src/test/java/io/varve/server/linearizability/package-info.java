/** Whether what concurrent clients were told could have been told by a store that does one thing at a time. */
@org.jspecify.annotations.NullMarked
package io.varve.server.linearizability;
