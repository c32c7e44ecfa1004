package io.varve.server.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Reads settings from a file in redis.conf syntax and from command-line options. Confined to the thread that starts the
 * server.
 */
public final class ConfigReader {
    private static final int MAX_INCLUDE_DEPTH = 16;
    private static final String HIDDEN = "(hidden)";
    /** Settings whose value may consist of several words. */
    private static final Set<String> MULTI_VALUE_SETTINGS = Set.of("tls-protocols");

    private final List<Problem> problems = new ArrayList<>();
    /** Files that are currently being read: none of them may be included again. */
    private final Set<Path> beingRead = new HashSet<>();
    private final Map<String, Origin> origins = new HashMap<>();
    private ServerConfig config = ServerConfig.defaults();
    /** Counts the lines and options that were read. */
    private int position;

    private ConfigReader() {}

    /**
     * The place where a setting was set.
     *
     * @param prefix the prefix of messages about it
     * @param name as it was written
     */
    private record Origin(int position, String prefix, String name) {}

    /** One problem, as one line. */
    private record Problem(int position, String line) {}

    /**
     * Reads {@code [FILE] [--NAME VALUE...]...}.
     *
     * @throws ConfigException with a line for each line and option that is wrong
     */
    public static ServerConfig read(List<String> arguments) {
        ConfigReader reader = new ConfigReader();
        int i = 0;
        if (!arguments.isEmpty() && !arguments.getFirst().startsWith("-")) {
            Path file = Path.of(arguments.getFirst());
            reader.attempt("", () -> reader.file(file, 0));
            reader.config = reader.config.withFile(file.toAbsolutePath().normalize());
            i = 1;
        }
        while (i < arguments.size()) {
            i = reader.option(arguments, i);
        }
        reader.checkWhole();
        reader.throwIfBad();
        return reader.config;
    }

    /** @return the position of the next option */
    private int option(List<String> arguments, int at) {
        int next = at + 1;
        String option = arguments.get(at);
        List<String> values = new ArrayList<>();
        while (next < arguments.size() && !arguments.get(next).startsWith("--")) {
            values.add(arguments.get(next++));
        }
        if (!option.startsWith("--") || option.length() == 2) {
            problems.add(new Problem(position++, shown(option) + ": an option begins with --"));
            return next;
        }
        String name = option.substring(2);
        int equals = name.indexOf('=');
        if (equals > 0) {
            values.addFirst(name.substring(equals + 1));
            name = name.substring(0, equals);
        }
        String setting = name;
        attempt("--", () -> directive(setting, values, "", 0));
        return next;
    }

    /** The settings of the file alone, without those from options or CONFIG SET. */
    static ServerConfig readFile(Path file) {
        ConfigReader reader = new ConfigReader();
        reader.attempt("", () -> reader.file(file, 0));
        reader.throwIfBad();
        return reader.config;
    }

    /**
     * Reads a line or an option, and records its problem.
     *
     * @param prefix the prefix of the message: file and line
     */
    private void attempt(String prefix, Runnable reading) {
        position++;
        int here = position;
        try {
            reading.run();
        } catch (ConfigException bad) {
            problems.add(new Problem(here, prefix + bad.getMessage()));
        }
    }

    /** Attributes problems of the whole configuration to the line that set the setting. */
    private void checkWhole() {
        for (SettingProblem problem : config.problems()) {
            Origin origin = origins.get(problem.name());
            problems.add(origin == null
                    ? new Problem(Integer.MAX_VALUE, problem.line())
                    : new Problem(origin.position(), origin.prefix() + origin.name() + " " + shown(problem.value())
                            + ": " + problem.reason()));
        }
    }

    private void throwIfBad() {
        if (!problems.isEmpty()) {
            throw new ConfigException(problems.stream().sorted(Comparator.comparingInt(Problem::position))
                    .map(Problem::line).collect(Collectors.joining("\n")));
        }
    }

    private void file(Path path, int depth) {
        Path absolute = path.toAbsolutePath().normalize();
        if (!beingRead.add(absolute)) {
            throw new ConfigException("include " + path + ": files include each other");
        }
        try {
            lines(path, depth);
        } finally {
            beingRead.remove(absolute);
        }
    }

    private void lines(Path path, int depth) {
        List<String> lines;
        try {
            lines = ByteOrderMark.linesWithout(path, StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new ConfigException("configuration file " + path + " cannot be read: " + reason(path, unreadable));
        }
        for (int number = 1; number <= lines.size(); number++) {
            String line = stripped(lines.get(number - 1));
            if (!line.isEmpty() && !line.startsWith("#")) {
                String where = path + ":" + number;
                attempt(where + ": ", () -> line(line, where, depth));
            }
        }
    }

    private void line(String line, String where, int depth) {
        List<String> words = split(line);
        if (words == null) {
            String name = line.split("\\s", 2)[0].replaceAll("[\"']", "");
            throw new ConfigException("unbalanced quotes: "
                    + (mayHoldSecret(name) ? name + " " + HIDDEN : shown(line)));
        }
        if (!words.isEmpty()) {
            directive(words.getFirst(), words.subList(1, words.size()), where, depth);
        }
    }

    private static String reason(Path path, IOException unreadable) {
        return switch (unreadable) {
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "permission denied";
            case CharacterCodingException _ -> "it is not UTF-8 text";
            default -> Files.isDirectory(path) ? "it is a directory" : String.valueOf(unreadable.getMessage());
        };
    }

    /** @throws ConfigException whose message begins with the name */
    private void directive(String name, List<String> values, String where, int depth) {
        if (name.equalsIgnoreCase("include") && values.size() == 1) {
            include(values.getFirst(), depth);
            return;
        }
        if (name.equalsIgnoreCase("user")) {
            user(values, where);
            return;
        }
        if (name.equalsIgnoreCase("rename-command")) {
            rename(values);
            return;
        }
        if (name.equalsIgnoreCase("loadmodule")) {
            throw new ConfigException("loadmodule " + shown(values) + ": Varve has no modules: remove the line");
        }
        Setting setting = Settings.find(name);
        if (setting == null) {
            throw new ConfigException(shown(name) + (values.isEmpty() ? "" : " " + shown(values))
                    + ": there is no such setting; serve --help lists them");
        }
        if (values.isEmpty()) {
            throw new ConfigException(name + ": needs a value: " + setting.allowed());
        }
        if (values.size() > 1 && !takesSeveralValues(setting)) {
            throw new ConfigException(name + " " + (setting.isSecret() ? HIDDEN : shown(values))
                    + ": takes one value: " + setting.allowed());
        }
        try {
            config = config.with(setting.name(), value(setting, values));
        } catch (ConfigException bad) {
            throw new ConfigException(name + " " + (setting.isSecret() ? HIDDEN : shown(values)) + ": expected "
                    + setting.allowed());
        }
        origins.put(setting.name(), new Origin(position, where.isEmpty() ? "--" : where + ": ", name));
    }

    private static boolean takesSeveralValues(Setting setting) {
        return switch (setting.kind()) {
            case SAVE, BUFFER_LIMITS, ADDRESSES, HOST_AND_PORT, PERCENTILES -> true;
            case TEXT -> setting.inert() || MULTI_VALUE_SETTINGS.contains(setting.name());
            default -> false;
        };
    }

    /** Values of some settings are appended to those of earlier lines. */
    private String value(Setting setting, List<String> values) {
        String value = String.join(" ", values);
        boolean adds = setting.kind() == Setting.Kind.BUFFER_LIMITS
                || setting.kind() == Setting.Kind.SAVE && !value.isBlank() && origins.containsKey(setting.name());
        return adds ? config.text(setting.name()) + " " + value : value;
    }

    private void include(String name, int depth) {
        if (depth >= MAX_INCLUDE_DEPTH) {
            throw new ConfigException("include " + shown(name) + ": files include each other");
        }
        try {
            for (Path path : included(name)) {
                file(path, depth + 1);
            }
        } catch (InvalidPathException | PatternSyntaxException bad) {
            throw new ConfigException("include " + shown(name) + ": is not a file name: " + bad.getMessage());
        } catch (IOException unreadable) {
            throw new ConfigException("include " + shown(name) + ": the directory cannot be read");
        }
    }

    /** As in Redis, a pattern may match no file; a plain name must exist. */
    private static List<Path> included(String name) throws IOException {
        Path path = Path.of(name);
        Path last = path.getFileName();
        Path folder = path.toAbsolutePath().getParent();
        if (last == null || folder == null || !last.toString().matches(".*[*?\\[].*")) {
            return List.of(path);
        }
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, last.toString())) {
            files.forEach(found::add);
        }
        found.sort(Comparator.naturalOrder());
        return found;
    }

    private void user(List<String> values, String where) {
        if (values.isEmpty()) {
            throw new ConfigException("user: needs a name and rules");
        }
        List<String> bytes = values.stream()
                .map(text -> new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1)).toList();
        UserLine line = new UserLine(where.isEmpty() ? "--user" : where, bytes.getFirst(),
                bytes.subList(1, bytes.size()));
        if (config.users().stream().anyMatch(known -> known.name().equals(line.name()))) {
            throw new ConfigException("user " + shown(values.getFirst()) + ": is defined twice");
        }
        config = config.with(config.directives().withUser(line));
    }

    private void rename(List<String> values) {
        if (values.size() != 2) {
            throw new ConfigException("rename-command " + shown(values)
                    + ": takes a command and its new name, which is \"\" for none");
        }
        config = config.with(config.directives().withRename(values.get(0).toLowerCase(Locale.ROOT),
                values.get(1)));
    }

    /** Whether a line with this first word may contain a password, which no message shows. */
    private static boolean mayHoldSecret(String name) {
        Setting setting = Settings.find(name);
        return name.equalsIgnoreCase("user") || setting != null && setting.isSecret();
    }

    private static String shown(List<String> values) {
        String joined = String.join(" ", values);
        return joined.isEmpty() ? "\"\"" : shown(joined);
    }

    /** Removes line breaks from a value. */
    private static String shown(String value) {
        return value.replaceAll("\\p{Cntrl}", "?");
    }

    /** The line without leading and trailing blanks. */
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

    /** Blanks as in Redis: other Unicode blanks are parts of words. */
    private static boolean isBlank(char c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }

    /** Splits a line at blanks, with quotes as in the inline protocol. Null if the quotes are unbalanced. */
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
