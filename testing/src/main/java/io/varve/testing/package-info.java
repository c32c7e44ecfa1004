/** The budgets and the seeds of random and long tests, and the pauses of tests that poll. */
@org.jspecify.annotations.NullMarked
package io.varve.testing;
