package io.varve.experiments.paced;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import io.varve.server.admin.latency.HiccupMeter;
import io.varve.server.system.TimeSlice;

/**
 * Measures the hiccups of an idle process on the server's core while the server works. Confined to the main thread of
 * its own process.
 *
 * <p>It shows the effect of the machine and its scheduler on any thread there. A server's meter sees that too, and its
 * own pauses in addition.
 *
 * <p>A line on its input restarts it. At the end of its input it prints the longest hiccup in ms, and the number of
 * hiccups of 1 ms or more.
 */
public final class IdleProbe {
    private static final double MILLI = 1e3;

    private IdleProbe() {}

    /** @param arguments the time slice of its thread, us: that of the server's event loops */
    public static void main(String[] arguments) throws IOException {
        HiccupMeter meter = new HiccupMeter(new TimeSlice(Long.parseLong(arguments[0])));
        meter.follow(true);
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
            while (in.readLine() != null) {
                meter.reset();
            }
        }
        System.out.println(String.format(Locale.ROOT, "%.3f %d", meter.longestMicros() / MILLI, meter.longOnes()));
    }
}
