package io.varve.server.testing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The result of a scrape, parsed as strictly as Prometheus does. Immutable.
 *
 * @param types by the metric's name, without the suffixes of a histogram's samples
 * @param help by the metric's name, in that form
 * @param samples in their order
 */
public record PrometheusText(Map<String, String> types, Map<String, String> help, List<Sample> samples) {
    private static final Pattern LINE = Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\.)*)\",?");

    /**
     * One line. Immutable.
     *
     * @param name   with what a histogram's samples end in
     * @param labels by name
     * @param value  may be infinite
     */
    public record Sample(String name, Map<String, String> labels, double value) {}

    /** @throws IllegalArgumentException if a line is none, or belongs to no metric that was announced */
    public static PrometheusText parse(String text) {
        if (!text.endsWith("\n")) {
            throw new IllegalArgumentException("The last line does not end");
        }
        Map<String, String> types = new LinkedHashMap<>();
        Map<String, String> help = new HashMap<>();
        List<Sample> samples = new ArrayList<>();
        for (String line : text.split("\n")) {
            if (line.startsWith("# HELP ")) {
                String[] words = line.split(" ", 4);
                help.put(words[2], words[3]);
            } else if (line.startsWith("# TYPE ")) {
                String[] words = line.split(" ");
                if (types.put(words[2], words[3]) != null) {
                    throw new IllegalArgumentException("Announced twice: " + line);
                }
            } else if (!line.startsWith("#")) {
                samples.add(sample(line, types));
            }
        }
        return new PrometheusText(types, help, samples);
    }

    private static Sample sample(String line, Map<String, String> types) {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("No sample: " + line);
        }
        String name = matcher.group(1);
        if (!types.containsKey(name) && !types.containsKey(name.replaceFirst("_(bucket|sum|count|total)$", ""))) {
            throw new IllegalArgumentException("Not announced: " + line);
        }
        Map<String, String> labels = new LinkedHashMap<>();
        Matcher label = LABEL.matcher(matcher.group(2) == null ? "" : matcher.group(2));
        while (label.find()) {
            labels.put(label.group(1), label.group(2));
        }
        String value = matcher.group(3);
        return new Sample(name, labels, value.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(value));
    }

    /** All samples of this name. */
    public List<Sample> of(String name) {
        return samples.stream().filter(sample -> sample.name().equals(name)).toList();
    }

    /** The one sample of this name that has these labels, in pairs of name and value. */
    public double value(String name, String... labels) {
        List<Sample> found = of(name).stream().filter(sample -> {
            for (int i = 0; i < labels.length; i += 2) {
                if (!labels[i + 1].equals(sample.labels().get(labels[i]))) {
                    return false;
                }
            }
            return true;
        }).toList();
        if (found.size() != 1) {
            throw new IllegalArgumentException(found.size() + " samples of " + name + " " + String.join(" ", labels));
        }
        return found.getFirst().value();
    }
}
