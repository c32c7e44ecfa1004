package io.varve.server.config;

import java.io.PrintStream;

/** Prints {@code serve --help}: every setting with its default. Immutable: static methods only. */
public final class SettingsHelp {
    private static final int WIDTH = 110;

    private SettingsHelp() {}

    /** Prints the effective settings with their allowed values, then the names and defaults of the others. */
    public static void print(PrintStream out) {
        out.println("Usage: " + program() + " [FILE] [--NAME VALUE]...");
        out.println(
                """

                        FILE is in redis.conf syntax; every setting in it is also an option. Each with its default and what is allowed;
                        CONFIG SET changes those with a * while the server runs:
                        """);
        for (Setting setting : Settings.all().values()) {
            if (!setting.inert()) {
                out.println(line(setting));
            }
        }
        out.println();
        out.println(
                "Beside settings: include FILE; user NAME RULE... (as ACL SETUSER has them); rename-command NAME NEW");
        out.println();
        out.println("Taken for the sake of files and clients, without effect here:");
        out.println();
        StringBuilder line = new StringBuilder(" ");
        for (Setting setting : Settings.all().values()) {
            if (setting.inert()) {
                String entry = " " + setting.name() + " " + shown(setting) + ";";
                if (line.length() + entry.length() > WIDTH) {
                    out.println(line);
                    line = new StringBuilder(" ");
                }
                line.append(entry);
            }
        }
        line.setLength(line.length() - 1);
        out.println(line);
    }

    /** A release has a program that only serves. */
    private static String program() {
        String executable = System.getProperty("varve.executable", "");
        return executable.endsWith("/varve-server") ? "varve-server" : "./varve serve";
    }

    private static String line(Setting setting) {
        String meaning = switch (setting.name()) {
            case "maxmemory" -> "; 0: half of the machine's or container's memory, less below 256 MiB";
            case "metrics-port" -> "; 0: none";
            default -> "";
        };
        return String.format(java.util.Locale.ROOT, "%s %-34s %-20s %s%s", setting.changeable() ? "*" : " ",
                setting.name(), shown(setting), setting.allowed(), meaning);
    }

    private static String shown(Setting setting) {
        return setting.defaultValue().isEmpty() ? "\"\"" : setting.defaultValue();
    }
}
