/** The budgets and the seeds of random and long tests. */
@org.jspecify.annotations.NullMarked
package io.varve.testing;
