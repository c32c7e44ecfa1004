package io.varve.experiments;

import io.varve.experiments.plan.Filters;
import org.jspecify.annotations.Nullable;

/**
 * What was asked for on the command line, kept in the output directory so that an interrupted matrix resumes. Immutable.
 *
 * @param experiment its name
 * @param scale      its name; null for the experiment's default
 * @param filters    which part
 */
record Request(String experiment, @Nullable String scale, Filters filters) {
    static final String FILE = "plan.json";
}
