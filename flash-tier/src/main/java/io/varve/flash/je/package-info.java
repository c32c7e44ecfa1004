/**
 * Stores in Berkeley DB Java Edition.
 *
 * <p>Lives here: everything that imports {@code com.sleepycat}. Must not live here: what is stored, and why.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.je;
