/** The databases behind the cache-aside client: JDBC, delays, their counters, and pending fills. */
@org.jspecify.annotations.NullMarked
package io.varve.ycsb.database;
