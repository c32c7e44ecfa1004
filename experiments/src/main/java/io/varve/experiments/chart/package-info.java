/**
 * Charts for papers, as SVG and PNG with equal content.
 *
 * <p>Lives here: layout, axes, legends, and the two file formats. Must not live here: experiments and their names.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.chart;
