/** Tests of the parts of a migration of slots. */
@org.jspecify.annotations.NullMarked
package io.varve.server.migration;
