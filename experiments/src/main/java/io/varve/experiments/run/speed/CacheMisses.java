package io.varve.experiments.run.speed;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Counts a process's cache misses with {@code perf}, where available. Confined to one thread at a time.
 *
 * <p>Many virtual machines have no such counter: perf exists there, and reports {@code <not supported>}.
 */
public final class CacheMisses {
    static final String EVENT = "cache-misses";
    /** Number of named functions; the others are summed up. */
    private static final int MAX_FUNCTIONS = 8;
    private static final Pattern FUNCTION = Pattern.compile("^\\s*(\\d+\\.\\d+)%\\s+\\[[.kgu]\\]\\s+(\\S+).*$");

    private final String event;

    CacheMisses(String event) {
        this.event = event;
    }

    /** The reason why misses cannot be counted here; null if they can. */
    @Nullable
    String unavailable() {
        try {
            Printed printed = print(List.of("perf", "stat", "-x,", "-e", event, "--", "true"));
            return printed.status() == 0 ? reason(printed.text()) : "perf stat: " + firstLine(printed.text());
        } catch (IOException e) {
            return "this machine has no perf";
        }
    }

    /** The reason why the first line of {@code perf stat -x,} is no count; null if it is one. */
    public static @Nullable String reason(String text) {
        String count = firstLine(text).split(",", -1)[0];
        return count.matches("\\d+") ? null : "perf stat printed " + (count.isEmpty() ? "nothing" : count);
    }

    /** Events a second of a process under load. */
    double perSecond(long pid, int seconds) throws IOException {
        Printed printed = print(List.of("perf", "stat", "-x,", "-e", event, "-p", String.valueOf(pid), "--", "sleep",
                String.valueOf(seconds)));
        String fault = printed.status() == 0 ? reason(printed.text()) : firstLine(printed.text());
        if (fault != null) {
            throw new IOException("perf stat: " + fault);
        }
        return Double.parseDouble(firstLine(printed.text()).split(",", -1)[0]) / seconds;
    }

    /** Percent of the events by function, the largest first, the rest as {@code other}. */
    Map<String, Double> byFunction(long pid, int seconds, Path file) throws IOException {
        Printed recorded = print(List.of("perf", "record", "-q", "-e", event, "-p", String.valueOf(pid), "-o",
                file.toString(), "--", "sleep", String.valueOf(seconds)));
        if (recorded.status() != 0) {
            throw new IOException("perf record: " + firstLine(recorded.text()));
        }
        return functions(print(List.of("perf", "report", "-i", file.toString(), "--stdio", "-q", "--sort", "symbol"))
                .text());
    }

    public static Map<String, Double> functions(String report) {
        Map<String, Double> functions = new LinkedHashMap<>();
        double named = 0;
        for (String line : report.lines().toList()) {
            Matcher matcher = FUNCTION.matcher(line);
            if (matcher.matches() && functions.size() < MAX_FUNCTIONS) {
                double percent = Double.parseDouble(matcher.group(1));
                // A stripped program has addresses instead of names.
                functions.merge(matcher.group(2).startsWith("0x") ? "unknown function" : matcher.group(2), percent,
                        Double::sum);
                named += percent;
            }
        }
        if (!functions.isEmpty()) {
            functions.put("other", Math.max(0, 100 - named));
        }
        return functions;
    }

    private record Printed(int status, String text) {}

    private static Printed print(List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            return new Printed(process.waitFor(), text);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while perf counted", e);
        }
    }

    private static String firstLine(String text) {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).findFirst().orElse("")
                .toLowerCase(Locale.ROOT);
    }
}
