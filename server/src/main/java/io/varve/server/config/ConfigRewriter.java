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
 * CONFIG REWRITE: brings a configuration file up to date. Immutable: static methods only.
 *
 * <p>What the file says of a setting stays as it is, blanks and units included, unless the setting has another value
 * now: then its first line is replaced and further ones go. What the file does not say and is not the default is added
 * at the end. Comments and the order stay.
 */
public final class ConfigRewriter {
    private static final String HEAD = "# Added by CONFIG REWRITE";

    private ConfigRewriter() {}

    /**
     * Writes the settings to the file they were read from: the new file takes the old one's place at once and whole.
     *
     * @param users the lines of the users, each in words whose chars are bytes; they take the place of those in the file
     * @throws IOException     if it cannot be written; the old file is then as it was
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
                            + " has bytes that are not UTF-8, which this file cannot hold: an aclfile can");
                }
                texts.add(quoted(text));
            }
            lines.add(String.join(" ", texts));
        }
        return lines;
    }

    /** Where the first user stood, or at the end. */
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

    /** What a line is about, as {@link ConfigReader} sees it; empty if it says nothing. */
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

    /** As {@link ConfigReader#split} reads it back. */
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
