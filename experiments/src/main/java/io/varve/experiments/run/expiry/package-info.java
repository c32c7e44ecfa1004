/** Runs that measure expiry: how soon expired items are reclaimed, and when their events arrive. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.expiry;
