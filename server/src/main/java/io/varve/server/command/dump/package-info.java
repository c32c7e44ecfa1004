/**
 * DUMP and RESTORE: values of all types as bytes.
 *
 * <p>This package holds the conversion between values and payloads. It must not hold the format
 * ({@code io.varve.server.rdb}) or the memory layout of values.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.dump;
