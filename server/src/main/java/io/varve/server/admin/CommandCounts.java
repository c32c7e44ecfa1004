package io.varve.server.admin;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.admin.LoopCounters.Total;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Sums over the event loops' command counters since the last reset. Immutable: the counters guard themselves.
 *
 * @param loops the counters that belong to the current epoch
 */
public record CommandCounts(List<LoopCounters> loops) {
    /** Takes the counters of the current epoch. */
    public static CommandCounts of(InfoSource source) {
        int epoch = source.counterEpoch();
        List<LoopCounters> current = new ArrayList<>();
        for (LoopCounters loop : source.loops()) {
            if (loop.isOf(epoch)) {
                current.add(loop);
            }
        }
        return new CommandCounts(List.copyOf(current));
    }

    public long total(Total which) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.total(which);
        }
        return sum;
    }

    public long calls(int command) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.calls(command);
        }
        return sum;
    }

    /** Total duration of its calls. */
    public long nanos(int command) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.nanos(command);
        }
        return sum;
    }

    /** Number of calls that were refused before they ran. */
    public long rejected(int command) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.rejectedCalls(command);
        }
        return sum;
    }

    /** Number of calls that ran and replied with an error. */
    public long failed(int command) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.failedCalls(command);
        }
        return sum;
    }

    /** Latencies in nanoseconds, in a histogram of the caller's own; null if the command has not run. */
    public @Nullable Histogram latencies(int command) {
        Histogram sum = null;
        for (LoopCounters loop : loops) {
            Histogram part = loop.latencies(command);
            if (part != null) {
                if (sum == null) {
                    sum = part.copy();
                } else {
                    sum.add(part);
                }
            }
        }
        return sum;
    }
}
