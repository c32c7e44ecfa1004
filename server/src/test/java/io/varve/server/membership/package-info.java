/** Tests of a server's connection to the controllers of its cluster, with controllers that a test plays. */
@org.jspecify.annotations.NullMarked
package io.varve.server.membership;
