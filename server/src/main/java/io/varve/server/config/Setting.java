package io.varve.server.config;

import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * One setting as data. Immutable.
 *
 * @param name         as in redis.conf
 * @param kind         what its value is
 * @param defaultValue in the form CONFIG GET shows
 * @param minimum      of a number
 * @param maximum      of a number
 * @param words        of a choice
 * @param changeable   whether CONFIG SET may change it
 * @param inert        whether it is only accepted and shown, for the sake of files and clients that carry it
 * @param alias        an older name, or null
 */
public record Setting(String name, Kind kind, String defaultValue, long minimum, long maximum, List<String> words,
        boolean changeable, boolean inert, @Nullable String alias) {
    /** What a value is. */
    public enum Kind {
        INTEGER, MEMORY,
        /** An amount of memory, or a share of maxmemory such as {@code 5%}. */
        MEMORY_OR_PERCENT, BOOLEAN, CHOICE, TEXT,
        /** {@code auto} or a number. */
        AUTO_INTEGER,
        /** {@code auto} or an amount of memory. */
        AUTO_MEMORY,
        /** Pairs of seconds and changes. */
        SAVE,
        /** Letters of what is told of keys. */
        EVENTS,
        /** Class, hard limit, soft limit, seconds; several times. */
        BUFFER_LIMITS
    }

    private static final Set<String> SECRETS = Set.of("requirepass", "masterauth", "masteruser", "tls-key-file-pass",
            "tls-client-key-file-pass");

    /** Whether its value is a password, which no message may repeat. */
    public boolean isSecret() {
        return SECRETS.contains(name);
    }

    /** Brings a value into the form CONFIG GET shows. @throws ConfigException if it is not allowed, saying what is */
    public String normalize(String value) {
        return switch (kind) {
            case INTEGER -> integer(value);
            case MEMORY -> memory(value);
            case MEMORY_OR_PERCENT -> value.endsWith("%") ? percent(value) : memory(value);
            case BOOLEAN -> bool(value);
            case CHOICE -> choice(value);
            case TEXT -> value;
            case AUTO_INTEGER -> value.equalsIgnoreCase("auto") ? "auto" : integer(value);
            case AUTO_MEMORY -> value.equalsIgnoreCase("auto") ? "auto" : memory(value);
            case SAVE -> save(value);
            case EVENTS -> EventSelection.parse(value).toString();
            case BUFFER_LIMITS -> OutputBufferLimits.parse(value, defaultValue).toString();
        };
    }

    /** What may be given, in words, for error messages. */
    public String allowed() {
        return switch (kind) {
            case INTEGER -> "a number from " + minimum + " to " + maximum;
            case MEMORY -> "an amount of memory such as 100mb, from " + minimum + " to " + maximum + " bytes";
            case MEMORY_OR_PERCENT -> "an amount of memory such as 100mb, or 0% to 100% of maxmemory";
            case BOOLEAN -> "yes or no";
            case CHOICE -> String.join(", ", words);
            case TEXT -> "any text";
            case AUTO_INTEGER -> "auto or a number from " + minimum + " to " + maximum;
            case AUTO_MEMORY -> "auto or an amount of memory from " + minimum + " to " + maximum + " bytes";
            case SAVE -> "pairs of seconds and changes, or \"\"";
            case EVENTS -> "letters out of Ag$lshzxeKEtmdn";
            case BUFFER_LIMITS -> "class hard-limit soft-limit soft-seconds";
        };
    }

    private String integer(String value) {
        long number;
        try {
            number = Long.parseLong(value.startsWith("0") && name.equals("unixsocketperm") ? "0" : value);
        } catch (NumberFormatException notANumber) {
            throw new ConfigException("argument couldn't be parsed into an integer");
        }
        return inRange(number);
    }

    private String memory(String value) {
        if (minimum < 0 && value.matches("-\\d{1,18}")) {
            return inRange(Long.parseLong(value));
        }
        long bytes = MemoryUnits.parse(value);
        if (bytes < 0) {
            throw new ConfigException("argument must be a memory value");
        }
        return inRange(bytes);
    }

    private static String percent(String value) {
        String digits = value.substring(0, value.length() - 1);
        if (!digits.matches("[0-9]{1,3}") || Integer.parseInt(digits) > 100) {
            throw new ConfigException("argument must be a memory or percent value");
        }
        return Integer.parseInt(digits) + "%";
    }

    private String inRange(long number) {
        if (number < minimum || number > maximum) {
            throw new ConfigException("argument must be between " + minimum + " and " + maximum + " inclusive");
        }
        return Long.toString(number);
    }

    private static String bool(String value) {
        if (value.equalsIgnoreCase("yes") || value.equalsIgnoreCase("no")) {
            return value.toLowerCase(Locale.ROOT);
        }
        throw new ConfigException("argument must be 'yes' or 'no'");
    }

    private String choice(String value) {
        for (String word : words) {
            if (word.equalsIgnoreCase(value)) {
                return word;
            }
        }
        throw new ConfigException("argument(s) must be one of the following: " + String.join(", ", words));
    }

    private static String save(String value) {
        String trimmed = value.trim();
        if (trimmed.isEmpty()) {
            return "";
        }
        String[] parts = trimmed.split("\\s+");
        boolean valid = parts.length % 2 == 0;
        for (String part : parts) {
            valid &= part.matches("\\d{1,10}");
        }
        if (!valid) {
            throw new ConfigException("Invalid save parameters");
        }
        return String.join(" ", parts);
    }
}
