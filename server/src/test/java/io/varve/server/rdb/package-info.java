/** Tests of what DUMP and RESTORE carry. */
@org.jspecify.annotations.NullMarked
package io.varve.server.rdb;
