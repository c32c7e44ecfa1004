package io.varve.server.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Implements CONFIG REWRITE: updates a configuration file to the current settings. Immutable: static methods only.
 *
 * <p>A setting's line stays unchanged, including blanks and units, unless the value has changed: then the new value
 * replaces the first line, and further lines are removed. Settings that are not in the file and not at their default
 * are appended at the end. Comments and the order of lines stay.
 */
public final class ConfigRewriter {
    private static final String HEAD = "# Added by CONFIG REWRITE";

    private ConfigRewriter() {}

    /**
     * Writes the settings to the file that they were read from; it replaces the file atomically.
     *
     * @param users the users' lines, each in words whose chars are bytes; they replace those in the file
     * @throws IOException if it cannot be written; the old file is then unchanged
     * @throws ConfigException if the old file cannot be read
     */
    public static void rewrite(ServerConfig config, List<List<String>> users) throws IOException {
        Path file = Objects.requireNonNull(config.file());
        List<String> old;
        ServerConfig said;
        try {
            old = ByteOrderMark.linesWithout(file, StandardCharsets.UTF_8);
            said = ConfigReader.readFile(file);
        } catch (NoSuchFileException gone) {
            old = List.of();
            said = ServerConfig.defaults();
        }
        List<String> lines = withUsers(merge(old, said, config), userLines(users));
        FileReplacement.replace(file, (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** The lines of the new file. */
    static List<String> merge(List<String> old, ServerConfig said, ServerConfig now) {
        List<String> lines = new ArrayList<>();
        Set<String> written = new HashSet<>();
        for (String line : old) {
            Setting setting = settingOf(line);
            if (setting == null || said.asSet(setting.name()).equals(now.asSet(setting.name()))) {
                lines.add(line);
            } else if (written.add(setting.name())) {
                lines.addAll(directives(setting, now));
            }
        }
        boolean headed = old.contains(HEAD);
        for (Setting setting : Settings.all().values()) {
            boolean changed = !said.asSet(setting.name()).equals(now.asSet(setting.name()));
            if (changed && written.add(setting.name())) {
                if (!headed) {
                    lines.add(HEAD);
                    headed = true;
                }
                lines.addAll(directives(setting, now));
            }
        }
        return lines;
    }

    static List<String> userLines(List<List<String>> users) throws IOException {
        List<String> lines = new ArrayList<>();
        for (List<String> words : users) {
            List<String> texts = new ArrayList<>();
            for (String word : words) {
                byte[] bytes = word.getBytes(StandardCharsets.ISO_8859_1);
                String text = new String(bytes, StandardCharsets.UTF_8);
                if (!Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
                    throw new IOException("The user " + words.get(1)
                            + " has bytes that are not UTF-8, which the configuration file cannot store: use an"
                            + " aclfile");
                }
                texts.add(quoted(text));
            }
            lines.add(String.join(" ", texts));
        }
        return lines;
    }

    /** Inserts the users' lines at the place of the first user line, or at the end. */
    static List<String> withUsers(List<String> lines, List<String> users) {
        List<String> result = new ArrayList<>();
        boolean written = false;
        for (String line : lines) {
            if (!firstWord(line).equalsIgnoreCase("user")) {
                result.add(line);
            } else if (!written) {
                result.addAll(users);
                written = true;
            }
        }
        if (!written && !users.isEmpty()) {
            if (!result.contains(HEAD)) {
                result.add(HEAD);
            }
            result.addAll(users);
        }
        return result;
    }

    private static @Nullable Setting settingOf(String line) {
        return Settings.find(firstWord(line));
    }

    /** The first word of a line, as {@link ConfigReader} parses it; empty for a comment or a blank line. */
    private static String firstWord(String line) {
        String stripped = ConfigReader.stripped(line);
        if (stripped.isEmpty() || stripped.startsWith("#")) {
            return "";
        }
        List<String> words = ConfigReader.split(stripped);
        return words == null || words.isEmpty() ? "" : words.getFirst();
    }

    private static List<String> directives(Setting setting, ServerConfig config) {
        String value = config.asSet(setting.name());
        return switch (setting.kind()) {
            case BUFFER_LIMITS -> {
                String[] parts = value.split(" ");
                List<String> lines = new ArrayList<>();
                for (int i = 0; i < parts.length; i += 4) {
                    lines.add(setting.name() + " " + String.join(" ", List.of(parts).subList(i, i + 4)));
                }
                yield lines;
            }
            case SAVE -> List.of(setting.name() + " " + (value.isEmpty() ? "\"\"" : value));
            default -> List.of(setting.name() + " " + quoted(value));
        };
    }

    /** Quotes a value so that {@link ConfigReader#split} restores it. */
    static String quoted(String value) {
        if (!value.isEmpty() && value.chars().allMatch(c -> c > ' ' && c < 127 && c != '"' && c != '\'' && c != '\\')) {
            return value;
        }
        StringBuilder text = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"', '\\' -> text.append('\\').append(c);
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    if (c < ' ') {
                        text.append(String.format(Locale.ROOT, "\\x%02x", (int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        return text.append('"').toString();
    }
}
