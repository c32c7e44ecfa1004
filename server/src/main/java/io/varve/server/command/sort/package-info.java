/**
 * SORT: the elements of a list, set or sorted set, ordered by themselves or by what other keys say.
 *
 * <p>Lives here: the request, the look-ups and the sorting. Must not live here: how these values are laid out.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.sort;
