package io.varve.experiments.run.context;

/** Formats durations in words. Stateless. */
public final class Durations {
    private static final long MINUTE = 60;
    private static final long HOUR = 60 * MINUTE;
    private static final long DAY = 24 * HOUR;

    private Durations() {}

    /** A duration such as {@code 45 s}, {@code 12 min}, {@code 3 h 20 min}, {@code 4 d 2 h}. */
    public static String words(long seconds) {
        if (seconds < 2 * MINUTE) {
            return seconds + " s";
        }
        long minutes = (seconds + MINUTE / 2) / MINUTE;
        if (minutes < HOUR / MINUTE) {
            return minutes + " min";
        }
        if (seconds < DAY) {
            return minutes / MINUTE + " h " + minutes % MINUTE + " min";
        }
        return seconds / DAY + " d " + seconds % DAY / HOUR + " h";
    }

    /** A duration such as {@code 1:05}. */
    public static String clock(long seconds) {
        long left = Math.max(0, seconds);
        return left / MINUTE + ":" + (left % MINUTE < 10 ? "0" : "") + left % MINUTE;
    }
}
