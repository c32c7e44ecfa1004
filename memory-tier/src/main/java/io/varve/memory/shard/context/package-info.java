/** The state that the parts of a shard share: its lock, its settings, and the numbering of databases. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.shard.context;
