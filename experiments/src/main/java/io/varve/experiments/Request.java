package io.varve.experiments;

import java.util.List;

import io.varve.experiments.plan.Filters;
import org.jspecify.annotations.Nullable;

/**
 * A request from the command line, stored in the output directory so that an interrupted matrix can resume. Immutable.
 *
 * @param experiment its name
 * @param scale its name; null for the experiment's default
 * @param filters the part of the matrix to run
 * @param traces trace files that are workloads too; null in files of earlier versions
 */
record Request(String experiment, @Nullable String scale, Filters filters, @Nullable List<String> traces) {
    static final String FILE = "plan.json";
}
