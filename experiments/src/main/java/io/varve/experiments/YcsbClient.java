package io.varve.experiments;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import site.ycsb.Client;

/**
 * Starts YCSB's own client, {@code ycsb}, after a check of the classes that its options name. Immutable: static methods
 * only. YCSB itself prints a stack trace for a class that does not exist, and exits with status 0.
 */
public final class YcsbClient {
    private static final int BAD_INPUT = 2;
    private static final List<String> CLASS_PROPERTIES = List.of("db", "workload");

    private YcsbClient() {}

    /** @param arguments the arguments for {@code site.ycsb.Client} */
    public static void main(String[] arguments) throws IOException {
        for (Named named : named(arguments)) {
            if (!exists(named.className)) {
                System.err.println("varve: ycsb " + named.option + ": unknown class " + named.className);
                System.exit(BAD_INPUT);
            }
        }
        Client.main(arguments);
    }

    /** A class, and the option that names it. */
    private record Named(String option, String className) {}

    private static List<Named> named(String[] arguments) throws IOException {
        List<Named> named = new ArrayList<>();
        for (int i = 0; i + 1 < arguments.length; i++) {
            String value = arguments[i + 1];
            switch (arguments[i]) {
                case "-db" -> named.add(new Named("-db", value));
                case "-p" -> addAll(properties(value), "-p", named);
                case "-P" -> addAll(propertiesOf(Path.of(value)), "-P " + value, named);
                default -> {
                    // An option of YCSB that names no class, or the value of one.
                }
            }
        }
        return named;
    }

    private static void addAll(Properties properties, String option, List<Named> named) {
        for (String property : CLASS_PROPERTIES) {
            String className = properties.getProperty(property);
            if (className != null) {
                named.add(new Named(option + " (" + property + ")", className.strip()));
            }
        }
    }

    private static Properties properties(String assignment) {
        Properties properties = new Properties();
        int equals = assignment.indexOf('=');
        if (equals > 0) {
            properties.setProperty(assignment.substring(0, equals), assignment.substring(equals + 1));
        }
        return properties;
    }

    /** A pipe can be read once only, and YCSB reads it. */
    private static Properties propertiesOf(Path file) throws IOException {
        Properties properties = new Properties();
        if (Files.isRegularFile(file)) {
            try (Reader reader = Files.newBufferedReader(file)) {
                properties.load(reader);
            }
        }
        return properties;
    }

    private static boolean exists(String className) {
        try {
            Class.forName(className, false, YcsbClient.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }
}
