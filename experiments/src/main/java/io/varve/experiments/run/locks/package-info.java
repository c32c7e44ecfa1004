/** The runs that compare stores by their locks, in this process and behind a server. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.locks;
