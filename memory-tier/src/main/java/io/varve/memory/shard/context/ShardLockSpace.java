package io.varve.memory.shard.context;

/**
 * The space in front of {@link ShardLockState}, whose fields the JVM places after those of this superclass: two cache
 * lines, because a core fetches lines in pairs.
 */
@SuppressWarnings("unused") // the fields only take space
abstract sealed class ShardLockSpace permits ShardLockState {
    private long s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14;
}
