/**
 * Helpers that several command families use on values: key lookup, item encodings, and lists, iteration and random
 * picks of members off the heap.
 *
 * <p>This package holds what at least two families need for keys and values. It must not hold the layout of one type
 * (package of its family), or anything that commands need before their handlers run.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.value;
