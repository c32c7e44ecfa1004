/** The server over a flash tier. */
@org.jspecify.annotations.NullMarked
package io.varve.server.flash;
