package io.varve.server.admin.latency;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The most recent slow commands. Guarded by {@code this}: slow commands are rare. */
public final class SlowLog {
    /** Number of arguments kept of a command; the last one then states the number of omitted ones. */
    public static final int MAX_ARGUMENTS = 32;
    /** Bytes kept of an argument. */
    public static final int MAX_ARGUMENT_BYTES = 128;

    /**
     * One slow command.
     *
     * @param id           grows by one from entry to entry
     * @param unixSeconds  when it ran
     * @param micros       how long it ran
     * @param arguments    cut to the limits
     * @param address      address of the client
     * @param clientName   as the client set it
     */
    public record Entry(long id, long unixSeconds, long micros, List<byte[]> arguments, String address,
            String clientName) {}

    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private long nextId;

    public synchronized void add(long unixSeconds, long micros, List<byte[]> arguments, String address,
            String clientName, long maxEntries) {
        entries.addFirst(new Entry(nextId++, unixSeconds, micros, arguments, address, clientName));
        trim(maxEntries);
    }

    private void trim(long maxEntries) {
        while (entries.size() > maxEntries) {
            entries.removeLast();
        }
    }

    /** The latest entries first; at most {@code count}. */
    public synchronized List<Entry> latest(long count) {
        List<Entry> result = new ArrayList<>();
        for (Entry entry : entries) {
            if (result.size() >= count) {
                break;
            }
            result.add(entry);
        }
        return result;
    }

    public synchronized int size() {
        return entries.size();
    }

    public synchronized void reset() {
        entries.clear();
    }
}
