/**
 * The figures and the report page.
 *
 * <p>Lives here: which charts an experiment has, report.html, the palette. Must not live here: measurement, drawing.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.report;
