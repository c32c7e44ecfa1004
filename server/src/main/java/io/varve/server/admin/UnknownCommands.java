package io.varve.server.admin;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counters of unknown commands that clients sent, by name. Many threads: guarded by {@code this}, off the path of known
 * commands.
 *
 * <p>Clients choose the names, so their number, length and characters are bounded. A name beyond the limit replaces the
 * rarest one.
 */
public final class UnknownCommands {
    static final int MAX_NAMES = 64;
    static final int MAX_NAME_CHARS = 48;
    private static final Logger LOG = LoggerFactory.getLogger(UnknownCommands.class);
    private static final long LOG_INTERVAL_MILLIS = 10_000;

    private final Map<String, Long> counts = new HashMap<>();
    /** The names that the log has mentioned. */
    private final Set<String> logged = new HashSet<>();
    private long total;
    private long nextLogMillis = Long.MIN_VALUE;

    /**
     * Counts one unknown command. The log mentions each name once, with a delay if it mentioned another name recently.
     *
     * @param name as it was sent; for a subcommand the command's name, a bar, and its own
     * @param client description of the sender
     */
    public synchronized void add(String name, String client, long nowMillis) {
        String known = sanitized(name);
        total++;
        if (!counts.containsKey(known) && counts.size() == MAX_NAMES) {
            counts.entrySet().stream().min(Map.Entry.comparingByValue()).map(Map.Entry::getKey)
                    .ifPresent(rarest -> {
                        counts.remove(rarest);
                        logged.remove(rarest);
                    });
        }
        counts.merge(known, 1L, Long::sum);
        if (nowMillis >= nextLogMillis && logged.add(known)) {
            LOG.warn("Unknown command {} from {}; INFO unknowncommands counts further calls", known, client);
            nextLogMillis = nowMillis + LOG_INTERVAL_MILLIS;
        }
    }

    /** Converts to lower case, truncates, and removes characters that a line of INFO or of the log cannot hold. */
    private static String sanitized(String name) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < name.length() && i < MAX_NAME_CHARS; i++) {
            char c = name.charAt(i);
            char lower = c >= 'A' && c <= 'Z' ? (char) (c + 'a' - 'A') : c;
            boolean plain = lower >= 'a' && lower <= 'z' || lower >= '0' && lower <= '9' || "._-|".indexOf(lower) >= 0;
            text.append(plain ? lower : '_');
        }
        return text.toString();
    }

    /** Number of unknown commands, over all names. */
    public synchronized long total() {
        return total;
    }

    /** The most frequent names first. */
    synchronized Map<String, Long> byName() {
        Map<String, Long> sorted = new LinkedHashMap<>();
        counts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
        return sorted;
    }

    public synchronized void reset() {
        counts.clear();
        logged.clear();
        total = 0;
    }
}
