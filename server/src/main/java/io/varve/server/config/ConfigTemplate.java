package io.varve.server.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes the configuration file of a release: every setting with its default, as a comment. Immutable: static methods
 * only.
 *
 * <p>The resource {@code settings.txt} has the sections and what each setting means; the catalogue has everything else.
 */
public final class ConfigTemplate {
    static final String RESOURCE = "settings.txt";
    private static final int COLUMNS = 100;
    private static final String MARK = "# ";

    private ConfigTemplate() {}

    /** Writes the file. The build calls it with the file's path as the only argument. */
    public static void main(String[] arguments) throws IOException {
        Files.writeString(Path.of(arguments[0]), text());
    }

    static String text() {
        StringBuilder out = new StringBuilder("""
                # Configuration of a Varve server, in redis.conf syntax: varve-server FILE [--NAME VALUE]...
                #
                # Every setting stands here with its default, as a comment. To change one, remove the # and edit the
                # value. CONFIG SET can change those with a * while the server runs, and CONFIG REWRITE writes the
                # values of a running server to this file.
                #
                # Beside settings a file can have: include FILE; user NAME RULE...; rename-command NAME NEW
                """);
        for (Section section : sections()) {
            head(section.title(), out);
            section.meanings().forEach((name, meaning) -> {
                Setting setting = Settings.find(name);
                if (setting != null) {
                    out.append('\n');
                    comment(meaning, out);
                    comment((setting.changeable() ? "* " : "") + "Allowed: " + setting.allowed() + "." + alias(setting),
                            out);
                    line(setting, out);
                }
            });
        }
        withoutEffect(out);
        return out.toString();
    }

    /** The settings that files of Redis and Valkey contain and that change nothing here. */
    private static void withoutEffect(StringBuilder out) {
        head("Without effect", out);
        out.append('\n');
        comment("Accepted, so that files of Redis and Valkey start the server. The log names those that are set.", out);
        for (Setting setting : Settings.all().values()) {
            if (setting.inert()) {
                line(setting, out);
            }
        }
    }

    private static void head(String title, StringBuilder out) {
        out.append('\n').append("# ---- ").append(title).append(' ')
                .repeat('-', COLUMNS - "# ---- ".length() - 1 - title.length()).append('\n');
    }

    private static void line(Setting setting, StringBuilder out) {
        out.append('#').append(setting.name()).append(' ').append(value(setting)).append('\n');
    }

    /** The default, or an example if the default depends on the machine. */
    private static String value(Setting setting) {
        String value = switch (setting.name()) {
            case "io-threads" -> "2";
            case "dir" -> "./";
            default -> setting.defaultValue();
        };
        return value.isEmpty() || value.contains("{") ? '"' + value + '"' : value;
    }

    private static String alias(Setting setting) {
        return setting.alias() == null ? "" : " Also called " + setting.alias() + ".";
    }

    private static void comment(String text, StringBuilder out) {
        StringBuilder line = new StringBuilder(MARK);
        for (String word : text.split(" ")) {
            if (line.length() + word.length() > COLUMNS && line.length() > MARK.length()) {
                out.append(line.toString().stripTrailing()).append('\n');
                line = new StringBuilder(MARK);
            }
            line.append(word).append(' ');
        }
        out.append(line.toString().stripTrailing()).append('\n');
    }

    /**
     * A part of the file.
     *
     * @param meanings the meaning of each setting by its name, in the file's order
     */
    record Section(String title, Map<String, String> meanings) {}

    static List<Section> sections() {
        List<Section> sections = new ArrayList<>();
        for (String line : resource().lines().toList()) {
            if (line.startsWith("[")) {
                sections.add(new Section(line.substring(1, line.length() - 1), new LinkedHashMap<>()));
            } else if (!line.isBlank()) {
                int colon = line.indexOf(": ");
                sections.getLast().meanings().put(line.substring(0, colon), line.substring(colon + 2));
            }
        }
        return sections;
    }

    private static String resource() {
        try (InputStream in = ConfigTemplate.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException(RESOURCE + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
