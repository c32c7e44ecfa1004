/** Tests of the checks of RDB files and logs. */
@org.jspecify.annotations.NullMarked
package io.varve.server.check;
