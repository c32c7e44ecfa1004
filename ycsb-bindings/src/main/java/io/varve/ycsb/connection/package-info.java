/** A connection to the server, over Lettuce, on an event loop of the YCSB thread's own. */
@org.jspecify.annotations.NullMarked
package io.varve.ycsb.connection;
