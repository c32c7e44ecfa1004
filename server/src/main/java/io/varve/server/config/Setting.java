package io.varve.server.config;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The definition of one setting. Immutable.
 *
 * @param name as in redis.conf
 * @param kind type of its value
 * @param defaultValue the default, in the form that CONFIG GET shows
 * @param minimum the minimum of a number
 * @param maximum the maximum of a number
 * @param words values of a choice
 * @param traits further properties
 * @param alias another name, from an older version or another product, or null
 */
public record Setting(String name, Kind kind, String defaultValue, long minimum, long maximum, List<String> words,
        Set<Trait> traits, @Nullable String alias) {
    /** A property that distinguishes a setting from most others. */
    public enum Trait {
        /** CONFIG SET cannot change it. */
        FIXED,
        /** CONFIG SET changes it only if {@code enable-protected-configs} allows it: it names a place for files. */
        PROTECTED,
        /** It is only accepted and shown, for files and clients that contain it. */
        WITHOUT_EFFECT,
        /** A pattern of CONFIG GET does not match it. */
        HIDDEN
    }

    /** The type of a value. */
    public enum Kind {
        INTEGER, MEMORY,
        /** An amount of memory, or a share of maxmemory such as {@code 5%}. */
        MEMORY_OR_PERCENT, BOOLEAN, CHOICE, TEXT,
        /** {@code auto} or a number. */
        AUTO_INTEGER,
        /** {@code auto} or an amount of memory. */
        AUTO_MEMORY,
        /** Permissions of a file, in octal digits. */
        OCTAL,
        /** A directory; CONFIG GET shows its absolute path. */
        DIRECTORY,
        /** The name of a file; empty for none. */
        FILE,
        /** Addresses and host names to listen on. */
        ADDRESSES,
        /** A host and a port; empty, or {@code no one}, for none. */
        HOST_AND_PORT,
        /** Pairs of seconds and changes. */
        SAVE,
        /** Numbers from 0 to 100, separated by blanks; none if empty. */
        PERCENTILES,
        /** Letters that select key events. */
        EVENTS,
        /** Class, hard limit, soft limit, seconds; several times. */
        BUFFER_LIMITS
    }

    private static final int OCTAL_RADIX = 8;
    private static final int MAX_PERCENT = 100;
    private static final int MAX_ADDRESSES = 16;
    /** Of a percentile. Its length is bounded, because an exponent makes a short text a very long number. */
    private static final Pattern DECIMAL = Pattern
            .compile("[+-]?(\\d{1,20}(\\.\\d{0,20})?|\\.\\d{1,20})([eE][+-]?\\d{1,2})?");
    private static final int MAX_DECIMALS = 6;
    private static final int MAX_PORT = 65_535;
    private static final Set<String> SECRETS = Set.of("requirepass", "masterauth", "masteruser", "tls-key-file-pass",
            "tls-client-key-file-pass");

    public Setting {
        words = List.copyOf(words);
        traits = Set.copyOf(traits);
    }

    /** Whether CONFIG SET may change it. */
    public boolean changeable() {
        return !traits.contains(Trait.FIXED);
    }

    /** Whether CONFIG SET needs {@code enable-protected-configs} to change it. */
    public boolean isProtected() {
        return traits.contains(Trait.PROTECTED);
    }

    /** Whether it is only accepted and shown, for files and clients that contain it. */
    public boolean inert() {
        return traits.contains(Trait.WITHOUT_EFFECT);
    }

    /** Whether only its exact name matches it. */
    public boolean hidden() {
        return traits.contains(Trait.HIDDEN);
    }

    /** Whether its value is a password, which no message may repeat. */
    public boolean isSecret() {
        return SECRETS.contains(name);
    }

    /**
     * Converts a value to the form that CONFIG GET shows. @throws ConfigException with the allowed values, if it is
     * invalid
     */
    public String normalize(String value) {
        return switch (kind) {
            case INTEGER -> integer(value);
            case MEMORY -> memory(value);
            case MEMORY_OR_PERCENT -> value.endsWith("%") ? percent(value) : memoryOrPercent(value);
            case BOOLEAN -> bool(value);
            case CHOICE -> choice(value);
            case TEXT -> value;
            case OCTAL -> octal(value);
            case DIRECTORY -> directory(value);
            case FILE -> file(value);
            case ADDRESSES -> addresses(value);
            case AUTO_INTEGER -> value.equalsIgnoreCase("auto") ? "auto" : integer(value);
            case AUTO_MEMORY -> value.equalsIgnoreCase("auto") ? "auto" : memory(value);
            case HOST_AND_PORT -> hostAndPort(value);
            case SAVE -> save(value);
            case PERCENTILES -> percentiles(value);
            case EVENTS -> EventSelection.parse(value).toString();
            case BUFFER_LIMITS -> OutputBufferLimits.parse(value, defaultValue).toString();
        };
    }

    /** The allowed values, in words, for error messages. */
    public String allowed() {
        return switch (kind) {
            case INTEGER -> "a number from " + minimum + " to " + maximum + reason();
            case MEMORY -> "an amount of memory such as 100mb, from " + minimum + " to " + maximum + " bytes";
            case MEMORY_OR_PERCENT -> "an amount of memory such as 100mb, or 0% to 100% of maxmemory";
            case BOOLEAN -> "yes or no";
            case CHOICE -> String.join(", ", words);
            case TEXT -> "any text";
            case DIRECTORY -> "a directory";
            case FILE -> "a file name";
            case ADDRESSES -> "up to " + MAX_ADDRESSES + " addresses";
            case OCTAL -> "octal digits from " + minimum + " to " + Long.toString(maximum, OCTAL_RADIX);
            case AUTO_INTEGER -> "auto or a number from " + minimum + " to " + maximum;
            case AUTO_MEMORY -> "auto or an amount of memory from " + minimum + " to " + maximum + " bytes";
            case HOST_AND_PORT -> "a host and a port from 0 to " + MAX_PORT + ", or \"\"";
            case SAVE -> "pairs of seconds and changes, or \"\"";
            case PERCENTILES -> "numbers from 0 to " + MAX_PERCENT;
            case EVENTS -> "letters of Ag$lshzxeKEtmdn";
            case BUFFER_LIMITS -> "class hard-limit soft-limit soft-seconds";
        };
    }

    /** An explanation of a bound that is not obvious; empty for other settings. */
    private String reason() {
        return name.equals("databases")
                ? ": an item stores a 5-bit database number, and FLUSHDB needs a second number for each database"
                : "";
    }

    private static String directory(String value) {
        try {
            return Path.of(value).toAbsolutePath().normalize().toString();
        } catch (InvalidPathException bad) {
            throw new ConfigException("argument must be a directory");
        }
    }

    private static String file(String value) {
        try {
            return Path.of(value).toString();
        } catch (InvalidPathException bad) {
            throw new ConfigException("argument must be the name of a file");
        }
    }

    private static String addresses(String value) {
        String trimmed = value.strip();
        if (trimmed.split("\\s+").length > MAX_ADDRESSES) {
            throw new ConfigException("Too many bind addresses specified.");
        }
        return trimmed;
    }

    private static String hostAndPort(String value) {
        String[] words = value.strip().split("\\s+");
        if (words[0].isEmpty() || words.length == 2 && words[0].equalsIgnoreCase("no")
                && words[1].equalsIgnoreCase("one")) {
            return "";
        }
        if (words.length != 2 || !words[1].matches("\\d{1,5}") || Integer.parseInt(words[1]) > MAX_PORT) {
            throw new ConfigException("argument must be a host and a port");
        }
        return words[0] + " " + Integer.parseInt(words[1]);
    }

    /** At most six decimal places, as in Redis. */
    private String percentiles(String value) {
        List<String> numbers = new ArrayList<>();
        for (String word : value.isEmpty() ? new String[0] : value.split(" ", -1)) {
            if (!DECIMAL.matcher(word).matches()) {
                throw new ConfigException("Invalid " + name + " parameters");
            }
            BigDecimal number = new BigDecimal(word);
            if (number.signum() < 0 || number.compareTo(BigDecimal.valueOf(MAX_PERCENT)) > 0) {
                throw new ConfigException(name + " parameters should sit between [0.0,100.0]");
            }
            BigDecimal rounded = number.setScale(MAX_DECIMALS, RoundingMode.HALF_EVEN);
            numbers.add(rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString());
        }
        return String.join(" ", numbers);
    }

    private String octal(String value) {
        long number;
        try {
            number = Long.parseLong(value, OCTAL_RADIX);
        } catch (NumberFormatException notOctal) {
            throw new ConfigException("argument couldn't be parsed as an octal number");
        }
        if (number < minimum || number > maximum) {
            throw new ConfigException("argument must be between " + Long.toString(minimum, OCTAL_RADIX) + " and "
                    + Long.toString(maximum, OCTAL_RADIX) + " inclusive");
        }
        return Long.toString(number, OCTAL_RADIX);
    }

    private String integer(String value) {
        long number;
        try {
            number = Long.parseLong(value);
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

    private String memoryOrPercent(String value) {
        if (MemoryUnits.parse(value) < 0) {
            throw new ConfigException("argument must be a memory or percent value");
        }
        return memory(value);
    }

    private static String percent(String value) {
        String digits = value.substring(0, value.length() - 1);
        if (!digits.matches("[0-9]{1,9}")) {
            throw new ConfigException("argument must be a memory or percent value");
        }
        int percent = Integer.parseInt(digits);
        if (percent > MAX_PERCENT) {
            throw new ConfigException("percentage argument must be less or equal to 100");
        }
        return percent + "%";
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
