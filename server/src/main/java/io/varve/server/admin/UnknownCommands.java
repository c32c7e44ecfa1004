package io.varve.server.admin;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commands that clients sent and that the server does not have, counted by name. Many threads: guarded by itself, off the path of
 * known commands.
 *
 * <p>Clients choose the names, so their number, their length and their characters are bounded; where one name too many comes, it takes
 * the place of the rarest.
 */
public final class UnknownCommands {
    static final int MAX_NAMES = 64;
    static final int MAX_NAME_CHARS = 48;
    private static final Logger LOG = LoggerFactory.getLogger(UnknownCommands.class);
    private static final long LOG_INTERVAL_MILLIS = 10_000;

    private final Map<String, Long> counts = new HashMap<>();
    private long total;
    private long loggedTotal;
    private long nextLogMillis = Long.MIN_VALUE;

    /**
     * Counts one, and logs it unless another was logged a short while ago.
     *
     * @param name   as it was sent; of a subcommand the command's, a bar, and its own
     * @param client who sent it, in words
     */
    public synchronized void add(String name, String client, long nowMillis) {
        String known = sanitized(name);
        total++;
        if (!counts.containsKey(known) && counts.size() == MAX_NAMES) {
            counts.entrySet().stream().min(Map.Entry.comparingByValue()).map(Map.Entry::getKey)
                    .ifPresent(counts::remove);
        }
        counts.merge(known, 1L, Long::sum);
        if (nowMillis >= nextLogMillis) {
            LOG.warn("Unknown command {} from {}: {} unknown commands since the last such line; INFO unknowncommands "
                    + "lists them", known, client, total - loggedTotal);
            nextLogMillis = nowMillis + LOG_INTERVAL_MILLIS;
            loggedTotal = total;
        }
    }

    /** Lower case, short, and nothing in it that a line of INFO or of the log cannot hold. */
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

    /** How many there were, of all names. */
    public synchronized long total() {
        return total;
    }

    /** The most frequent first. */
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
        total = 0;
        loggedTotal = 0;
    }
}
