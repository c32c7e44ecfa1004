package io.varve.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * The results of a JMH run, as {@code -rf json} writes them. Immutable.
 *
 * @param name the file, for messages
 * @param measures by subject, in the file's order
 */
record Results(String name, Map<Subject, Measure> measures) {
    /**
     * The subject of a measurement.
     *
     * @param benchmark class and method, and the name of a secondary result after a colon
     * @param parameters as text, with the number of threads if it is not one
     */
    record Subject(String benchmark, String mode, String parameters) {
        /** Whether it is operations per unit of time, rather than time, bytes and so on per operation. */
        boolean moreIsBetter() {
            return mode.equals("thrpt") && benchmark.indexOf(':') < 0;
        }
    }

    /**
     * A score.
     *
     * @param error half of the 99.9 % interval; NaN if there were too few iterations
     */
    record Measure(double score, double error, String unit) {}

    /** @throws ResultException if there is no such file, or it is not a JSON result of JMH */
    static Results read(Path file) {
        JsonNode root = parse(file);
        if (!root.isArray() || root.isEmpty()) {
            throw bad(file, "it is not a list of results");
        }
        Map<Subject, Measure> measures = new LinkedHashMap<>();
        for (JsonNode result : root) {
            String benchmark = shortName(text(file, result, "benchmark"));
            String mode = text(file, result, "mode");
            String parameters = parameters(result);
            measures.put(new Subject(benchmark, mode, parameters),
                    measure(file, benchmark, result.path("primaryMetric")));
            for (Map.Entry<String, JsonNode> secondary : result.path("secondaryMetrics").properties()) {
                measures.put(new Subject(benchmark + ":" + secondary.getKey(), mode, parameters),
                        measure(file, benchmark, secondary.getValue()));
            }
        }
        return new Results(file.toString(), measures);
    }

    private static JsonNode parse(Path file) {
        if (!Files.exists(file)) {
            throw bad(file, "there is no such file");
        }
        if (Files.isDirectory(file)) {
            throw bad(file, "it is a folder");
        }
        try {
            return new ObjectMapper().readTree(file.toFile());
        } catch (JacksonException broken) {
            throw new ResultException(message(file, "it is not JSON: " + broken.getOriginalMessage()), broken);
        } catch (IOException unreadable) {
            throw new ResultException(message(file, "it cannot be read: " + unreadable.getMessage()), unreadable);
        }
    }

    private static String text(Path file, JsonNode result, String name) {
        JsonNode value = result.path(name);
        if (!value.isTextual()) {
            throw bad(file, "a result has no " + name);
        }
        return value.textValue();
    }

    private static Measure measure(Path file, String benchmark, JsonNode metric) {
        double score = number(metric.path("score"));
        JsonNode unit = metric.path("scoreUnit");
        if (Double.isNaN(score) || !unit.isTextual()) {
            throw bad(file, benchmark + " has no score");
        }
        return new Measure(score, number(metric.path("scoreError")), unit.textValue());
    }

    /** JMH writes NaN as text. */
    private static double number(JsonNode value) {
        return value.isNumber() ? value.doubleValue() : Double.NaN;
    }

    private static String parameters(JsonNode result) {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, JsonNode> parameter : result.path("params").properties()) {
            text.append(text.isEmpty() ? "" : " ").append(parameter.getKey()).append('=')
                    .append(parameter.getValue().asText());
        }
        int threads = result.path("threads").asInt(1);
        if (threads != 1) {
            text.append(text.isEmpty() ? "" : " ").append("threads=").append(threads);
        }
        return text.toString();
    }

    /** Class and method. */
    private static String shortName(String benchmark) {
        int method = benchmark.lastIndexOf('.');
        return benchmark.substring(benchmark.lastIndexOf('.', method - 1) + 1);
    }

    private static ResultException bad(Path file, String what) {
        return new ResultException(message(file, what));
    }

    private static String message(Path file, String what) {
        return "jmh --compare " + file + ": " + what;
    }
}
