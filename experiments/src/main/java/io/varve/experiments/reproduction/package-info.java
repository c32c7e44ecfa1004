/**
 * The tables and figures of the papers: their runs, what they claim, and whether our measurements agree.
 *
 * <p>Lives here: the definition in {@code workloads/reproduction.yaml}, verdicts, the combined report. Must not live
 * here: how an experiment runs, or how a chart is drawn.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.reproduction;
