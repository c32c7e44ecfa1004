package io.varve.server.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Reads settings from a file in redis.conf syntax and from options. Confined to the thread that starts the server.
 */
public final class ConfigReader {
    private static final int MAX_INCLUDE_DEPTH = 16;
    /** Settings whose value may be several words. */
    private static final Set<String> MANY_WORDS = Set.of("latency-tracking-info-percentiles", "tls-protocols");

    private ServerConfig config = ServerConfig.defaults();
    private final List<String> seenLimits = new ArrayList<>();

    private ConfigReader() {}

    /**
     * Reads {@code [FILE] [--NAME VALUE...]...}.
     *
     * @throws ConfigException in one line
     */
    public static ServerConfig read(List<String> arguments) {
        ConfigReader reader = new ConfigReader();
        int i = 0;
        if (!arguments.isEmpty() && !arguments.getFirst().startsWith("--")) {
            Path file = Path.of(arguments.getFirst());
            reader.file(file, 0);
            reader.config = reader.config.withFile(file.toAbsolutePath().normalize());
            i = 1;
        }
        while (i < arguments.size()) {
            String option = arguments.get(i++);
            if (!option.startsWith("--") || option.length() == 2) {
                throw new ConfigException(option + ": an option begins with --");
            }
            String name = option.substring(2);
            List<String> values = new ArrayList<>();
            int equals = name.indexOf('=');
            if (equals > 0) {
                values.add(name.substring(equals + 1));
                name = name.substring(0, equals);
            }
            while (i < arguments.size() && !arguments.get(i).startsWith("--")) {
                values.add(arguments.get(i++));
            }
            reader.directive(name, values, "--" + name, 0);
        }
        return reader.config.validate();
    }

    /** What the file alone says: what was set otherwise, by option or CONFIG SET, is left out. */
    static ServerConfig readFile(Path file) {
        ConfigReader reader = new ConfigReader();
        reader.file(file, 0);
        return reader.config;
    }

    private void file(Path path, int depth) {
        if (depth > MAX_INCLUDE_DEPTH) {
            throw new ConfigException("include " + path + ": files include each other");
        }
        List<String> lines;
        try {
            lines = Files.readAllLines(path);
        } catch (IOException unreadable) {
            throw new ConfigException("configuration file " + path + " cannot be read: " + reason(path, unreadable));
        }
        for (int number = 1; number <= lines.size(); number++) {
            String line = stripped(lines.get(number - 1));
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            List<String> words = split(line);
            String where = path + ":" + number;
            if (words == null) {
                String name = line.split("\\s", 2)[0].replaceAll("[\"']", "");
                throw new ConfigException(where + ": unbalanced quotes: "
                        + (mayHoldSecret(name) ? name + " (hidden)" : line));
            }
            if (!words.isEmpty()) {
                directive(words.getFirst(), words.subList(1, words.size()), where, depth);
            }
        }
    }

    private static String reason(Path path, IOException unreadable) {
        return switch (unreadable) {
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "permission denied";
            case CharacterCodingException _ -> "it is not UTF-8 text";
            default -> Files.isDirectory(path) ? "it is a folder" : String.valueOf(unreadable.getMessage());
        };
    }

    private void directive(String name, List<String> values, String where, int depth) {
        if (name.equalsIgnoreCase("include") && values.size() == 1) {
            include(values.getFirst(), where, depth);
            return;
        }
        if (name.equalsIgnoreCase("user")) {
            user(values, where);
            return;
        }
        if (name.equalsIgnoreCase("rename-command")) {
            rename(values, where);
            return;
        }
        Setting setting = Settings.find(name);
        if (setting == null) {
            throw new ConfigException(named(where, name) + String.join(" ", values)
                    + ": there is no such setting; serve --help lists them");
        }
        boolean many = switch (setting.kind()) {
            case SAVE, BUFFER_LIMITS -> true;
            case TEXT -> setting.name().equals("bind") || setting.inert()
                    || MANY_WORDS.contains(setting.name());
            default -> false;
        };
        if (values.isEmpty()) {
            throw new ConfigException(named(where, name).strip() + ": needs a value: " + setting.allowed());
        }
        if (values.size() > 1 && !many) {
            throw new ConfigException(named(where, name)
                    + (setting.isSecret() ? "(hidden)" : String.join(" ", values)) + ": takes one value: "
                    + setting.allowed());
        }
        String value = String.join(" ", values);
        boolean adds = setting.kind() == Setting.Kind.SAVE && !value.isBlank() && seenLimits.contains("save");
        if (adds) {
            value = config.text("save") + " " + value;
        }
        seenLimits.add(setting.name());
        if (setting.kind() == Setting.Kind.BUFFER_LIMITS) {
            value = config.text(setting.name()) + " " + value;
        }
        config = config.with(setting.name(), value);
    }

    private void include(String name, String where, int depth) {
        Path path;
        try {
            path = Path.of(name);
        } catch (InvalidPathException bad) {
            throw new ConfigException(named(where, "include") + bad.getMessage());
        }
        file(path, depth + 1);
    }

    private void user(List<String> values, String where) {
        if (values.isEmpty()) {
            throw new ConfigException(named(where, "user").strip() + ": needs a name and rules");
        }
        List<String> bytes = values.stream()
                .map(text -> new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1)).toList();
        UserLine line = new UserLine(where, bytes.getFirst(), bytes.subList(1, bytes.size()));
        if (config.users().stream().anyMatch(known -> known.name().equals(line.name()))) {
            throw new ConfigException(named(where, "user") + values.getFirst() + ": is defined twice");
        }
        config = config.with(config.directives().withUser(line));
    }

    private void rename(List<String> values, String where) {
        if (values.size() != 2) {
            throw new ConfigException(named(where, "rename-command") + String.join(" ", values)
                    + ": takes a command and its new name, which is \"\" for none");
        }
        config = config.with(config.directives().withRename(values.get(0).toLowerCase(Locale.ROOT),
                values.get(1)));
    }

    /** Whether a line with this first word may hold a password, which is shown to nobody. */
    private static boolean mayHoldSecret(String name) {
        Setting setting = Settings.find(name);
        return name.equalsIgnoreCase("user") || setting != null && setting.isSecret();
    }

    /** How a message begins: {@code --port } for an option, {@code FILE:3: port } for a line. */
    private static String named(String where, String name) {
        return where.equals("--" + name) ? where + " " : where + ": " + name + " ";
    }

    /** Without blanks at its ends. */
    public static String stripped(String line) {
        int from = 0;
        int to = line.length();
        while (from < to && isBlank(line.charAt(from))) {
            from++;
        }
        while (from < to && isBlank(line.charAt(to - 1))) {
            to--;
        }
        return line.substring(from, to);
    }

    /** As in Redis: other characters that Unicode takes for blanks are parts of words. */
    private static boolean isBlank(char c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }

    /** Splits a line at blanks; quotes as in the inline protocol. Null if they are unbalanced. */
    public static @Nullable List<String> split(String line) {
        List<String> words = new ArrayList<>();
        int i = 0;
        int length = line.length();
        while (true) {
            while (i < length && isBlank(line.charAt(i))) {
                i++;
            }
            if (i >= length) {
                return words;
            }
            StringBuilder word = new StringBuilder();
            char quote = 0;
            boolean ended = false;
            while (!ended && i < length) {
                char c = line.charAt(i);
                if (quote == '"' && c == '\\' && i + 1 < length) {
                    i += unescape(line, i, word);
                } else if (quote == '\'' && c == '\\' && i + 1 < length && line.charAt(i + 1) == '\'') {
                    word.append('\'');
                    i += 2;
                } else if (quote != 0 && c == quote) {
                    if (i + 1 < length && !isBlank(line.charAt(i + 1))) {
                        return null;
                    }
                    quote = 0;
                    i++;
                    ended = true;
                } else if (quote == 0 && (c == '"' || c == '\'')) {
                    quote = c;
                    i++;
                } else if (quote == 0 && isBlank(c)) {
                    ended = true;
                } else {
                    word.append(c);
                    i++;
                }
            }
            if (quote != 0) {
                return null;
            }
            words.add(word.toString());
        }
    }

    private static int unescape(String line, int at, StringBuilder word) {
        char next = line.charAt(at + 1);
        if (next == 'x' && at + 3 < line.length()) {
            int high = Character.digit(line.charAt(at + 2), 16);
            int low = Character.digit(line.charAt(at + 3), 16);
            if (high >= 0 && low >= 0) {
                word.append((char) (high << 4 | low));
                return 4;
            }
        }
        word.append(switch (next) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'a' -> (char) 7;
            default -> next;
        });
        return 2;
    }
}
