/** The budgets and seeds of random and long tests, the pauses of tests that poll, and the output of processes. */
@org.jspecify.annotations.NullMarked
package io.varve.testing;
