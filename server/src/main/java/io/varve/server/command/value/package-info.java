/**
 * What families share when they look at values: how keys are found and items encoded, how members are noted off the heap, walked
 * over and picked at random.
 *
 * <p>Lives here: what at least two families need of keys and their values. Must not live here: how one type of value is laid out
 * (its family's room), and anything that commands need before their handlers run.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.value;
