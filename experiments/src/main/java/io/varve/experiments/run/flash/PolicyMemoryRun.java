package io.varve.experiments.run.flash;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.run.context.RunContext;
import io.varve.flash.policy.Policies;

/**
 * Measures the memory of replacement policies (TBF, Tables I, II and V): a new JVM for each fills it with keys.
 * Confined to the thread that does the run.
 */
public final class PolicyMemoryRun {
    private static final double MAX_TBF_BYTES = 1.05;

    private final RunContext context;
    private final List<Policies> policies;
    private final long items;

    public PolicyMemoryRun(RunContext context) {
        this.context = context;
        policies = context.plan.policies(context.run);
        items = context.plan.keys(context.run);
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("keys", String.valueOf(items));
    }

    public void measure() throws IOException {
        for (Policies policy : policies) {
            context.phase(policy.optionName(), () -> measure(policy));
        }
    }

    private void measure(Policies policy) throws IOException {
        FilledPolicy.Memory memory = memory(policy);
        put(PoliciesText.BYTES, policy, (double) memory.policyBytes() / items);
        put(PoliciesText.HEAP, policy, memory.heapBytes());
        put(PoliciesText.RESIDENT, policy, memory.residentBytes());
        if (policy == Policies.TBF) {
            context.checks.add(Check.atMost("bytes of memory per item with tbf",
                    (double) memory.policyBytes() / items, MAX_TBF_BYTES));
        }
    }

    private FilledPolicy.Memory memory(Policies policy) throws IOException {
        Process process = new ProcessBuilder(FilledPolicy.command(policy, items)).redirectErrorStream(true).start();
        process.getOutputStream().close();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            return FilledPolicy.Memory.read(in);
        } finally {
            process.destroyForcibly();
        }
    }

    private void put(String metric, Policies policy, double value) {
        context.metrics.put(PoliciesText.name(metric, policy.optionName(), PoliciesText.FILLED), value);
    }
}
