/**
 * The summary of all runs: the columns of summary.csv, the tables of the report, and the papers' values beside them.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.result.table;
