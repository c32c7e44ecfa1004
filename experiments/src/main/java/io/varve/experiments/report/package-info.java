/**
 * The figures and the report page.
 *
 * <p>Lives here: PNG plots, report.html, the palette. Must not live here: measurement.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.report;
