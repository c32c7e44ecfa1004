package io.varve.server.admin.latency;

import java.util.List;

import io.varve.server.log.BoundedLog;

/** The most recent slow commands. Thread-safe by a lock: slow commands are rare. */
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

    private final BoundedLog<Entry> entries = new BoundedLog<>();

    public void add(long unixSeconds, long micros, List<byte[]> arguments, String address, String clientName,
            long maxEntries) {
        entries.add(id -> new Entry(id, unixSeconds, micros, arguments, address, clientName), maxEntries);
    }

    /** The latest entries first; at most {@code count}. */
    public List<Entry> latest(long count) {
        return entries.latest(count);
    }

    public int size() {
        return entries.size();
    }

    public void reset() {
        entries.reset();
    }
}
