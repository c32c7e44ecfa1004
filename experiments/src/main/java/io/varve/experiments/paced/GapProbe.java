package io.varve.experiments.paced;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Measures the pauses of a thread that runs all the time: the machine's own pauses, for which no server is responsible.
 * Confined to the main thread of its own process.
 *
 * <p>It prints the longest gap between two clock readings in ms, and the number per second of gaps of 1 ms or more.
 */
public final class GapProbe {
    private static final long WARM_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final double MILLI = 1e6;

    private GapProbe() {}

    /** @param arguments the duration in seconds */
    public static void main(String[] arguments) {
        int seconds = Integer.parseInt(arguments[0]);
        long start = System.nanoTime() + WARM_NANOS;
        long end = start + TimeUnit.SECONDS.toNanos(seconds);
        long before = System.nanoTime();
        long longest = 0;
        int longOnes = 0;
        for (long now = before; now < end; now = System.nanoTime()) {
            long gap = now - before;
            before = now;
            if (now >= start) {
                longest = Math.max(longest, gap);
                longOnes += gap >= MILLI ? 1 : 0;
            }
        }
        System.out.println(String.format(Locale.ROOT, "%.3f %.3f", longest / MILLI, (double) longOnes / seconds));
    }
}
