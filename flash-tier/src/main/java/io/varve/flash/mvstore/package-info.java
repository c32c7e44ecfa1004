/**
 * A store in H2's MVStore: a log of B-tree pages in one file.
 *
 * <p>Lives here: everything that imports {@code org.h2}. Must not live here: the content of the store.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.mvstore;
