package io.varve.experiments;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.DurationEstimate;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.run.ConcurrentRuns;
import io.varve.experiments.run.context.Durations;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The subcommand {@code experiments}: it lists the experiments, their questions and durations. Confined to the main
 * thread.
 */
@Command(name = "experiments", description = "Lists the experiments, their questions and durations.", mixinStandardHelpOptions = true)
final class ListCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        Path home = Experiments.home();
        ExperimentFiles files = new ExperimentFiles(home.resolve("workloads/experiments"));
        int cores = Runtime.getRuntime().availableProcessors();
        for (String name : files.names()) {
            Experiment experiment = files.read(name);
            out.println(name);
            out.println("  " + experiment.question());
            List<RunRecord> earlier = Matrix.earlier(RunCommand.earlier(home, name, home));
            for (Map.Entry<String, Experiment.Scale> scale : experiment.scales().entrySet()) {
                Plan plan = Plan.of(experiment, scale.getKey(), Filters.NONE);
                int speedup = ConcurrentRuns.speedup(ConcurrentRuns.count(plan, 0, cores), cores);
                out.printf("  %-15s %4d runs, about %-9s %s%n", scale.getKey(), plan.runs().size(),
                        Durations.words(new DurationEstimate(plan, earlier).seconds(plan.runs(), speedup)),
                        scale.getValue().about());
            }
            out.println();
        }
        out.println("Without a name, ./varve run runs bucket-expiry --scale quick.");
        return 0;
    }
}
