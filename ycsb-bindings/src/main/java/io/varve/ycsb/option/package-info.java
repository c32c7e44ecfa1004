/** The properties of the YCSB clients: parsed, validated, and with their defaults. */
@org.jspecify.annotations.NullMarked
package io.varve.ycsb.option;
