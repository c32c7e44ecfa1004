package io.varve.experiments.reproduction;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.plan.RunSpec;
import org.jspecify.annotations.Nullable;

/**
 * The runs of an experiment that an artefact needs: those that its figures show, within the part that its definition
 * names. Immutable.
 *
 * @param figures the experiment's figures that show the artefact
 * @param only values by workload, size and configuration; empty for all
 */
record Selection(List<Figure> figures, Map<String, List<String>> only) {
    static Selection of(Artefact artefact, Experiment experiment) {
        List<Figure> all = experiment.figures() == null ? List.of() : experiment.figures();
        return new Selection(all.stream().filter(figure -> artefact.shownBy().contains(figure.id())).toList(),
                artefact.only() == null ? Map.of() : artefact.only());
    }

    boolean has(RunSpec run) {
        return is("workload", Measure.withoutScale(run.workload())) && is("size", run.size())
                && is("configuration", run.configuration())
                && (figures.isEmpty() || figures.stream().anyMatch(figure -> isIn(figure.workloads(), run.workload())
                        && isIn(figure.sizes(), run.size()) && isIn(figure.ttls(), run.ttls())
                        && isIn(figure.threads(), run.threads())));
    }

    private boolean is(String dimension, String value) {
        return !only.containsKey(dimension) || Objects.requireNonNull(only.get(dimension)).contains(value);
    }

    private static <T> boolean isIn(@Nullable List<T> allowed, T value) {
        return allowed == null || allowed.contains(value);
    }
}
