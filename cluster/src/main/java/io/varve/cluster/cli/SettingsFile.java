package io.varve.cluster.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A file of settings in redis.conf syntax: {@code NAME VALUE} a line, and comments after a number sign. Stateless. */
final class SettingsFile {
    private SettingsFile() {}

    /**
     * Reads a file as options of the command line.
     *
     * @throws IllegalArgumentException if it cannot be read, or a line has no value
     */
    static List<String> options(Path file) {
        List<String> options = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(file)) {
                String text = line.strip();
                if (text.isEmpty() || text.startsWith("#")) {
                    continue;
                }
                String[] words = text.split("\\s+", 2);
                if (words.length < 2) {
                    throw new IllegalArgumentException(file + ": setting '" + text + "' has no value");
                }
                options.add("--" + words[0]);
                options.add(unquoted(words[1]));
            }
        } catch (NoSuchFileException missing) {
            throw new IllegalArgumentException(file + ": there is no such file", missing);
        } catch (IOException unreadable) {
            throw new IllegalArgumentException(file + ": cannot be read: " + unreadable.getMessage(), unreadable);
        }
        return options;
    }

    private static String unquoted(String value) {
        boolean isQuoted = value.length() > 1 && value.startsWith("\"") && value.endsWith("\"");
        return isQuoted ? value.substring(1, value.length() - 1) : value;
    }
}
