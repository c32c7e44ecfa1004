/** The settings of a cache. All types are immutable and validated when they are made. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.config;
