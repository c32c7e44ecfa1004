/**
 * What a key and an item are to whoever looks at them: the flyweights and the small vocabulary that all rooms share.
 *
 * <p>Lives here: types without behaviour of their own that cross the walls between rooms. Must not live here: the bytes
 * of an item (room {@code segment}) or what is done to it (room {@code shard}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.item;
