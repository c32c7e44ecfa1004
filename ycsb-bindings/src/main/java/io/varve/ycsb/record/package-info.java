/** How a YCSB record is stored: as a hash, or packed into a string. */
@org.jspecify.annotations.NullMarked
package io.varve.ycsb.record;
