package io.varve.experiments.run.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.plan.LogMode;
import io.varve.experiments.plan.WriteAheadLogLoad;
import io.varve.experiments.plan.WriteAheadLogLoad.Load;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.TrialResult;
import io.varve.experiments.result.table.WriteAheadLogText;
import io.varve.experiments.run.context.RunContext;
import org.jspecify.annotations.Nullable;

/**
 * Compares the measured servers with themselves without a log and with each other. Confined to the thread that does the
 * run. A ratio has two measurements of one repetition.
 */
final class LogVerdicts {
    /** Minimum number of ratios for a verdict: with fewer it is only reported, since it may be noise. */
    private static final int JUDGED_FROM = 3;
    /** The load of the limits of a synchronous log: many clients, each with one write at a time. */
    private static final int MANY = 50;

    private final RunContext context;
    private final WriteAheadLogLoad load;
    private final List<TrialResult> trials;
    private final Map<String, Configuration> configurations;

    LogVerdicts(RunContext context, WriteAheadLogLoad load, List<TrialResult> trials) {
        this.context = context;
        this.load = load;
        this.trials = trials;
        this.configurations = context.plan.configurations();
    }

    /** Adds the cells, shares and checks to the run. */
    void conclude() {
        for (Load each : load.loads()) {
            for (String name : context.plan.available()) {
                compare(each, name);
            }
        }
        for (Load each : load.loads()) {
            if (each.clients() == MANY && each.pipeline() == 1) {
                Optional<String> ours = find(Server.VARVE, LogMode.ALWAYS);
                ours.ifPresent(name -> judgeAlways(each, name));
            }
        }
    }

    private void compare(Load each, String name) {
        List<TrialResult> own = of(each, name);
        if (own.isEmpty()) {
            return;
        }
        Configuration configuration = configuration(name);
        LogMode mode = LogMode.of(configuration.settings());
        String plain = find(configuration.server(), LogMode.NONE).filter(other -> !other.equals(name)).orElse(null);
        List<Double> costs = plain == null ? List.of() : Cell.ratios(own, of(each, plain));
        Double limit = configuration.server() == Server.VARVE && mode == LogMode.EVERYSEC
                && Double.isFinite(load.maxEverysecCost()) ? Double.valueOf(load.maxEverysecCost()) : null;
        Cell cell = new Cell(each.title(), each.pipeline(), name, range(own, TrialResult::ops),
                range(own, TrialResult::cpuMicrosPerOp), range(own, TrialResult::busyPercent), null,
                costs.isEmpty() ? null : MedianRange.of(costs), costs.isEmpty() ? null : limit);
        context.cells.add(cell);
        if (plain != null) {
            List<Double> shares = shares(own, of(each, plain));
            if (!shares.isEmpty()) {
                context.metrics.put(share(cell.title(), name), MedianRange.of(shares));
            }
        }
        if (cell.target() != null && cell.ratio() != null) {
            add(Check.atMost(cell.title() + ": CPU per SET with everysec, share of that without a log",
                    cell.ratio().median(), cell.target()), costs.size());
        }
    }

    private static String share(String title, String name) {
        return WriteAheadLogText.name(WriteAheadLogText.SHARE, title + " " + name);
    }

    private void judgeAlways(Load each, String ours) {
        find(Server.VARVE, LogMode.NONE).ifPresent(plain -> judge(each, ours, plain,
                "throughput with always, share of that without a log", load.minAlwaysThroughput()));
        find(Server.REDIS, LogMode.ALWAYS).ifPresent(rival -> judge(each, ours, rival,
                "throughput with always, share of " + rival + "'s", load.minOverRival()));
        find(Server.VALKEY, LogMode.ALWAYS).ifPresent(rival -> judge(each, ours, rival,
                "throughput with always, share of " + rival + "'s", Double.NaN));
    }

    /** @param limit NaN if there is none: then the share is only stored */
    private void judge(Load each, String ours, String other, String what, double limit) {
        List<Double> shares = shares(of(each, ours), of(each, other));
        if (shares.isEmpty()) {
            return;
        }
        MedianRange range = MedianRange.of(shares);
        context.metrics.put("throughput_always_over " + other, range);
        if (Double.isFinite(limit)) {
            add(Check.atLeast(each.title() + ", pipeline " + each.pipeline() + ": " + what, range.median(), limit),
                    shares.size());
        }
    }

    private void add(Check check, int count) {
        context.checks.add(count >= JUDGED_FROM
                ? check
                : check.notAsserted("fewer than " + JUDGED_FROM + " repetitions"));
    }

    private Configuration configuration(String name) {
        Configuration configuration = configurations.get(name);
        if (configuration == null) {
            throw new IllegalStateException("configuration '" + name + "' is not part of the run");
        }
        return configuration;
    }

    private Optional<String> find(Server server, LogMode mode) {
        return context.plan.available().stream().filter(name -> configuration(name).server() == server
                && LogMode.of(configuration(name).settings()) == mode).findFirst();
    }

    private List<TrialResult> of(Load each, @Nullable String name) {
        return trials.stream().filter(trial -> trial.contestant().equals(name) && trial.test().equals(each.title())
                && trial.pipeline() == each.pipeline()).toList();
    }

    private static MedianRange range(List<TrialResult> of, ToDoubleFunction<TrialResult> number) {
        return MedianRange.of(of.stream().map(number::applyAsDouble).toList());
    }

    /** Throughput of each repetition, divided by that of the other list's corresponding repetition. */
    private static List<Double> shares(List<TrialResult> some, List<TrialResult> others) {
        List<Double> shares = new ArrayList<>();
        for (TrialResult trial : some) {
            for (TrialResult other : others) {
                if (other.repetition() == trial.repetition()) {
                    shares.add(trial.ops() / other.ops());
                }
            }
        }
        return shares;
    }
}
