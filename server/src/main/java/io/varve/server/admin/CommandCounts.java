package io.varve.server.admin;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.admin.LoopCounters.Total;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Sums over what the event loops have counted, since the last reset, as they are now. Immutable: the loops' counters guard
 * themselves.
 *
 * @param loops those that have counted anything since
 */
public record CommandCounts(List<LoopCounters> loops) {
    /** The sums as they are now. */
    static CommandCounts of(InfoSource source) {
        int epoch = source.counterEpoch();
        List<LoopCounters> current = new ArrayList<>();
        for (LoopCounters loop : source.loops()) {
            if (loop.isOf(epoch)) {
                current.add(loop);
            }
        }
        return new CommandCounts(List.copyOf(current));
    }

    long total(Total which) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.total(which);
        }
        return sum;
    }

    long calls(int command) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.calls(command);
        }
        return sum;
    }

    /** The time that its calls took, together. */
    long nanos(int command) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.nanos(command);
        }
        return sum;
    }

    /** How often it was refused before it ran. */
    long rejected(int command) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.rejectedCalls(command);
        }
        return sum;
    }

    /** How often it ran and replied an error. */
    long failed(int command) {
        long sum = 0;
        for (LoopCounters loop : loops) {
            sum += loop.failedCalls(command);
        }
        return sum;
    }

    /** Nanoseconds, in a histogram of the caller's own; null if the command has not run. */
    @Nullable
    Histogram latencies(int command) {
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
