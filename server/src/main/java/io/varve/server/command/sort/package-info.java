/**
 * SORT: the elements of a list, set or sorted set, ordered by themselves or by the values of other keys.
 *
 * <p>This package holds the request, the lookups and the sorting. It must not hold the layout of these values.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.sort;
