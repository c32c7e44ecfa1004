package io.varve.experiments.plan;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses sizes in redis.conf syntax. Stateless. */
public final class ByteSizes {
    private static final Pattern SYNTAX = Pattern.compile("(\\d+)(b|kb|mb|gb|k|m|g)?");

    private ByteSizes() {}

    /** Parses a size: {@code 1k} is 1000 bytes and {@code 1kb} is 1024, as in Redis. */
    public static long parse(String text) {
        Matcher matcher = SYNTAX.matcher(text.toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "size '" + text + "': expected a number, optionally followed by b, k, kb, m, mb, g or gb");
        }
        long number = Long.parseLong(matcher.group(1));
        String unit = matcher.group(2) == null ? "b" : matcher.group(2);
        return switch (unit) {
            case "k" -> number * 1000;
            case "kb" -> number << 10;
            case "m" -> number * 1_000_000;
            case "mb" -> number << 20;
            case "g" -> number * 1_000_000_000;
            case "gb" -> number << 30;
            default -> number;
        };
    }
}
