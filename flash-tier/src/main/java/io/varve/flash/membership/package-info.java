/**
 * What is surely not on flash, known without asking flash.
 *
 * <p>Lives here: sets of keys in memory from which keys can be taken away. Must not live here: files, policies.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.membership;
