/** Random commands for the differential tests, and the shrinking of scripts that fail. */
@org.jspecify.annotations.NullMarked
package io.varve.server.differential.random;
