/** A client's near cache: records in its own memory, which CLIENT TRACKING keeps right. */
@org.jspecify.annotations.NullMarked
package io.varve.ycsb.near;
