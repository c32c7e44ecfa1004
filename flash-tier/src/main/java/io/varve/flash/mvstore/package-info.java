/**
 * Stores in H2's MVStore: a log of B-tree pages in one file.
 *
 * <p>Lives here: everything that imports {@code org.h2}. Must not live here: what is stored, and why.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.mvstore;
