package io.varve.experiments.paced;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import io.varve.server.admin.HiccupMeter;
import io.varve.server.system.TimeSlice;

/**
 * The hiccups of a process that does nothing, on the server's core and while the server works: what the machine and its scheduler do
 * to a thread there, whosoever it is. A server's meter sees that too, and its own pauses besides. Confined to the main thread of its
 * own process.
 *
 * <p>A line on its input starts it anew; at the end of its input it prints the longest hiccup in ms, and how many there were of
 * a millisecond or more.
 */
public final class IdleProbe {
    private static final double MILLI = 1e3;

    private IdleProbe() {}

    /** @param arguments the time slice of its thread, us: as the server's event loops have it */
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
