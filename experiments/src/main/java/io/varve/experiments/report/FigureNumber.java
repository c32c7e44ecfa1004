package io.varve.experiments.report;

import java.util.List;
import java.util.Objects;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.plan.Plan;

/** The number of a paper's figure, for the title of a chart that shows it. Stateless. */
final class FigureNumber {
    private FigureNumber() {}

    /**
     * The title with the number of the figure, if the experiment has it and it includes the workload.
     *
     * @param title begins with a capital
     * @param workload empty for a chart of all workloads
     * @param ids the possible figures, such as {@code Figure 12}
     */
    static String before(String title, Plan plan, String workload, String... ids) {
        List<Figure> figures = Objects.requireNonNullElse(plan.experiment().figures(), List.of());
        for (String id : ids) {
            for (Figure figure : figures) {
                List<String> workloads = figure.workloads();
                if (figure.id().equals(id)
                        && (workload.isEmpty() || workloads == null || workloads.contains(workload))) {
                    return id + ": " + Character.toLowerCase(title.charAt(0)) + title.substring(1);
                }
            }
        }
        return title;
    }
}
