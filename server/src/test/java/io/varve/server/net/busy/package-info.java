/** Tests of turns of connections within a slow script. */
@org.jspecify.annotations.NullMarked
package io.varve.server.net.busy;
