package io.varve.server.config;

import java.util.Locale;

/** Parses and formats amounts of memory as Redis does: k is 1000, kb is 1024. Immutable: static methods only. */
public final class MemoryUnits {
    private MemoryUnits() {}

    /** Bytes, or -1 if the text is not an amount of memory. */
    public static long parse(String text) {
        int digits = 0;
        while (digits < text.length() && Character.isDigit(text.charAt(digits))) {
            digits++;
        }
        if (digits == 0 || digits > 18) {
            return -1;
        }
        long unit = switch (text.substring(digits).toLowerCase(Locale.ROOT)) {
            case "", "b" -> 1;
            case "k" -> 1_000;
            case "kb", "kib" -> 1L << 10;
            case "m" -> 1_000_000;
            case "mb", "mib" -> 1L << 20;
            case "g" -> 1_000_000_000;
            case "gb", "gib" -> 1L << 30;
            default -> -1;
        };
        long number = Long.parseLong(text.substring(0, digits));
        if (unit < 0 || Math.multiplyHigh(number, unit) != 0 || number * unit < 0) {
            return -1;
        }
        return number * unit;
    }

    /** A human-readable form, such as {@code 1.50G}, as INFO shows it. */
    public static String human(long bytes) {
        if (bytes < 1024) {
            return bytes + "B";
        }
        String units = "KMGTPE";
        double amount = bytes;
        int unit = -1;
        while (amount >= 1024 && unit < units.length() - 1) {
            amount /= 1024;
            unit++;
        }
        return Decimals.of(amount, 2) + units.charAt(unit);
    }
}
