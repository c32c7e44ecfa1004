package io.varve.server.command.text;

import io.varve.memory.offheap.Memory;

/**
 * Redis's glob-style patterns over native bytes. Immutable: static methods only.
 *
 * <p>{@code *} matches any bytes, {@code ?} matches one, {@code [abc]}, {@code [^a]} and {@code [a-z]} match one of a
 * class; a backslash quotes the next byte. The special cases also follow Redis. An unclosed class ends with the
 * pattern. The bounds of a range may have either order, and compare as signed bytes. A backslash at the end stands for
 * itself. Only the empty pattern matches the empty string (KEYS and SCAN handle a lone {@code *} themselves).
 *
 * <p>Every element except the star matches exactly one byte. So after a mismatch, only the last star needs to match one
 * more byte: an earlier star could only give the same rest a later start. The work is bounded by pattern length times
 * string length, whatever the pattern.
 */
public final class GlobPattern {
    private GlobPattern() {}

    /** Whether the pattern is a lone star, which matches every string, even the empty one. */
    public static boolean matchesAll(long pattern, int patternLength) {
        return patternLength == 1 && Memory.getByte(pattern) == '*';
    }

    /** Whether the whole string matches the pattern. */
    public static boolean matches(long pattern, int patternLength, long string, int stringLength) {
        return matches(pattern, patternLength, string, stringLength, false);
    }

    /**
     * Whether the whole string matches the pattern.
     *
     * @param ignoreCase whether ASCII letters match in either case
     */
    public static boolean matches(long pattern, int patternLength, long string, int stringLength,
            boolean ignoreCase) {
        if (stringLength == 0) {
            return patternLength == 0;
        }
        long patternEnd = pattern + patternLength;
        long stringEnd = string + stringLength;
        long p = pattern;
        long s = string;
        long afterStar = 0;
        long starTook = 0;
        while (s < stringEnd) {
            if (p < patternEnd && Memory.getByte(p) == '*') {
                p = skipStars(p, patternEnd);
                if (p == patternEnd) {
                    return true;
                }
                afterStar = p;
                starTook = s;
            } else if (p < patternEnd && elementMatches(p, patternEnd, Memory.getByte(s), ignoreCase)) {
                p = elementEnd(p, patternEnd);
                s++;
            } else if (afterStar != 0) {
                p = afterStar;
                s = ++starTook;
            } else {
                return false;
            }
        }
        return skipStars(p, patternEnd) == patternEnd;
    }

    private static long skipStars(long from, long patternEnd) {
        long p = from;
        while (p < patternEnd && Memory.getByte(p) == '*') {
            p++;
        }
        return p;
    }

    private static boolean elementMatches(long p, long patternEnd, byte c, boolean ignoreCase) {
        byte first = Memory.getByte(p);
        return switch (first) {
            case '?' -> true;
            case '[' -> classMatches(p + 1, patternEnd, c, ignoreCase);
            case '\\' -> same(p + 1 < patternEnd ? Memory.getByte(p + 1) : first, c, ignoreCase);
            default -> same(first, c, ignoreCase);
        };
    }

    private static long elementEnd(long p, long patternEnd) {
        return switch (Memory.getByte(p)) {
            case '[' -> classEnd(p + 1, patternEnd);
            case '\\' -> Math.min(p + 2, patternEnd);
            default -> p + 1;
        };
    }

    /** @param from after the opening bracket */
    private static boolean classMatches(long from, long patternEnd, byte c, boolean ignoreCase) {
        long p = from;
        boolean negated = p < patternEnd && Memory.getByte(p) == '^';
        if (negated) {
            p++;
        }
        boolean found = false;
        while (p < patternEnd) {
            byte member = Memory.getByte(p);
            if (member == ']') {
                break;
            }
            if (member == '\\' && p + 1 < patternEnd) {
                // Redis compares a quoted member exactly, even if case is ignored.
                found |= Memory.getByte(p + 1) == c;
            } else if (isRange(p, patternEnd)) {
                found |= inRange(member, Memory.getByte(p + 2), c, ignoreCase);
            } else {
                found |= same(member, c, ignoreCase);
            }
            p = memberEnd(p, patternEnd);
        }
        return found != negated;
    }

    /**
     * @param from after the opening bracket
     * @return after the closing bracket, or the pattern's end if there is none
     */
    private static long classEnd(long from, long patternEnd) {
        long p = from;
        if (p < patternEnd && Memory.getByte(p) == '^') {
            p++;
        }
        while (p < patternEnd && Memory.getByte(p) != ']') {
            p = memberEnd(p, patternEnd);
        }
        return Math.min(p + 1, patternEnd);
    }

    private static long memberEnd(long p, long patternEnd) {
        if (Memory.getByte(p) == '\\' && p + 1 < patternEnd) {
            return p + 2;
        }
        return isRange(p, patternEnd) ? p + 3 : p + 1;
    }

    private static boolean isRange(long p, long patternEnd) {
        return p + 2 < patternEnd && Memory.getByte(p + 1) == '-';
    }

    private static boolean inRange(byte one, byte other, byte c, boolean ignoreCase) {
        byte low = one <= other ? one : other;
        byte high = one <= other ? other : one;
        if (ignoreCase) {
            return lower(c) >= lower(low) && lower(c) <= lower(high);
        }
        return c >= low && c <= high;
    }

    private static boolean same(byte a, byte b, boolean ignoreCase) {
        return a == b || ignoreCase && lower(a) == lower(b);
    }

    private static byte lower(byte c) {
        return c >= 'A' && c <= 'Z' ? (byte) (c + 'a' - 'A') : c;
    }
}
