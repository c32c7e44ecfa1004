package io.varve.ycsb.option;

import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Collectors;

/**
 * Reads a binding's settings from YCSB's properties. Confined to its caller. It rejects a value with a line that names
 * the property, its value and the allowed values.
 */
public final class PropertyReader {
    private static final String OURS = "varve.";

    private final Properties properties;

    private enum Answer {
        FALSE, TRUE
    }

    /**
     * @param names all known names: no other property may begin with {@code varve.}
     * @throws IllegalArgumentException if one does
     */
    public PropertyReader(Properties properties, Collection<String> names) {
        this.properties = properties;
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(OURS) && !names.contains(name)) {
                throw new IllegalArgumentException("unknown property " + name + "="
                        + properties.getProperty(name) + ": expected " + String.join(", ", names));
            }
        }
    }

    /** The value without surrounding blanks, {@code orElse} if it is empty. */
    public String text(String name, String orElse) {
        String value = properties.getProperty(name, orElse).trim();
        return value.isEmpty() ? orElse : value;
    }

    /** One of an enum's constants, ignoring case. */
    public <E extends Enum<E>> E choice(String name, E orElse) {
        String value = text(name, lower(orElse));
        E[] constants = orElse.getDeclaringClass().getEnumConstants();
        for (E constant : constants) {
            if (lower(constant).equals(value.toLowerCase(Locale.ROOT))) {
                return constant;
            }
        }
        throw refused(name, value,
                Arrays.stream(constants).map(PropertyReader::lower).collect(Collectors.joining(" or ")));
    }

    /** {@code true} or {@code false}, ignoring case. */
    public boolean flag(String name, boolean orElse) {
        return choice(name, orElse ? Answer.TRUE : Answer.FALSE) == Answer.TRUE;
    }

    /** A whole number from {@code min} to {@code max}. */
    public long number(String name, long orElse, long min, long max) {
        String value = text(name, Long.toString(orElse));
        try {
            long number = Long.parseLong(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw refused(name, value, "a whole number from " + min + " to " + max, e);
        }
        throw refused(name, value, "a whole number from " + min + " to " + max);
    }

    /** A constant's name in settings: in lower case. */
    public static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    public static IllegalArgumentException refused(String name, String value, String allowed) {
        return new IllegalArgumentException(name + "=" + value + ": expected " + allowed);
    }

    public static IllegalArgumentException refused(String name, String value, String allowed, Exception cause) {
        return new IllegalArgumentException(name + "=" + value + ": expected " + allowed, cause);
    }
}
