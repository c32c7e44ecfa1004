package io.varve.server.admin;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counters of error replies by prefix. Many threads: a concurrent map of adders, bounded in size. */
public final class ErrorCounts {
    /** Scripts can choose any prefixes. */
    private static final int MAX_PREFIXES = 128;
    private static final int MAX_PREFIX_CHARS = 30;
    /** The prefix under which it counts errors whose first word is too long, and errors without a blank. */
    private static final String OTHER = "ERR";

    private final ConcurrentHashMap<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final LongAdder total = new LongAdder();

    /** @param error the whole text, such as {@code ERR syntax error} */
    public void add(String error) {
        add(prefix(error), 1);
    }

    /** The prefix of an error, as in Redis: its first word, which a blank follows, or ERR if that is long. */
    public static String prefix(String error) {
        int blank = error.indexOf(' ', 0, Math.min(error.length(), MAX_PREFIX_CHARS + 1));
        return blank < 0 ? OTHER : error.substring(0, blank);
    }

    /** Counts several errors with this {@link #prefix}. */
    public void add(String prefix, long times) {
        total.add(times);
        LongAdder adder = counts.get(prefix);
        if (adder == null && counts.size() < MAX_PREFIXES) {
            adder = counts.computeIfAbsent(prefix, _ -> new LongAdder());
        }
        if (adder != null) {
            adder.add(times);
        }
    }

    public long total() {
        return total.sum();
    }

    public Map<String, Long> byPrefix() {
        Map<String, Long> result = new TreeMap<>();
        counts.forEach((prefix, adder) -> result.put(prefix, adder.sum()));
        return result;
    }

    public void reset() {
        counts.clear();
        total.reset();
    }
}
