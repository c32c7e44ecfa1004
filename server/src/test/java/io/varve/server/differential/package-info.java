/** Sends equal commands to Varve and to a real Redis, and compares the replies. */
@org.jspecify.annotations.NullMarked
package io.varve.server.differential;
