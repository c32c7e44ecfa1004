/** Tests of the payloads of DUMP and RESTORE. */
@org.jspecify.annotations.NullMarked
package io.varve.server.rdb;
