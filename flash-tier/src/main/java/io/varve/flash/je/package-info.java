/**
 * A store in Berkeley DB Java Edition.
 *
 * <p>Lives here: everything that imports {@code com.sleepycat}. Must not live here: the content of the store.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.je;
