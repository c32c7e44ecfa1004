package io.varve.experiments.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The longest pauses of all threads of a JVM, read from its log. Immutable.
 *
 * <p>A safepoint's total counts from its request, so a thread that is slow to stop shows. Concurrent collectors log the
 * purpose of their pauses.
 *
 * @param count number of safepoints
 * @param longestMillis the longest of them
 * @param longestReason its purpose; empty if there was none
 * @param totalMillis sum of all of them
 */
public record PauseLog(int count, double longestMillis, String longestReason, double totalMillis) {
    /** The JVM's log selection, to a file whose path follows. */
    private static final String SELECTION = "-Xlog:gc,safepoint=info:file=";
    /** In ms since 1970, so that the log and our phases share one clock. */
    private static final String FORMAT = ":timemillis,tags:filecount=0";
    private static final Pattern SAFEPOINT = Pattern
            .compile("^\\[(\\d+)ms]\\[[^]]*] Safepoint \"([^\"]*)\".* Total: +(\\d+) ns.*");
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * Options that make a JVM write such a log, asynchronously, so that no pause waits for a disk.
     *
     * @param file its name, in the process's folder
     */
    static String options(String file) {
        return SELECTION + file + FORMAT + " -Xlog:async";
    }

    /**
     * @param fromMillis earlier events, in ms since 1970, do not count
     * @param toMillis later events do not count
     */
    public static PauseLog read(Path file, long fromMillis, long toMillis) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return of(lines, fromMillis, toMillis);
        }
    }

    static PauseLog of(Stream<String> lines, long fromMillis, long toMillis) {
        int count = 0;
        double longest = 0;
        double total = 0;
        String reason = "";
        for (Matcher line : (Iterable<Matcher>) lines.map(SAFEPOINT::matcher).filter(Matcher::matches)::iterator) {
            long at = Long.parseLong(line.group(1));
            if (at < fromMillis || at > toMillis) {
                continue;
            }
            double millis = Long.parseLong(line.group(3)) / NANOS_PER_MILLI;
            count++;
            total += millis;
            if (millis > longest) {
                longest = millis;
                reason = line.group(2);
            }
        }
        return new PauseLog(count, longest, reason, total);
    }
}
