package io.varve.experiments.result;

import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;

import io.varve.experiments.wire.ServerInfo;

/**
 * The values of INFO at one moment. Immutable.
 *
 * @param elapsedMillis time since the run's FLUSHALL, ms
 * @param usedMemory used_memory, bytes
 * @param usedMemoryRss used_memory_rss, bytes
 * @param keys number of keys in all databases, expired but unreclaimed ones included
 * @param expiredKeys expired since the server's start
 * @param evictedKeys evicted since the server's start, without those demoted to flash
 * @param ops operations a second, as the load last reported; 0 while none runs
 * @param expiredUnreclaimed the server's own count; -1 if it reports none
 * @param heapUsed bytes of the server's heap; -1 if it reports none
 * @param cpuSeconds CPU time of the server since its start; NaN if it reports none
 */
public record Sample(long elapsedMillis, long usedMemory, long usedMemoryRss, long keys, long expiredKeys,
        long evictedKeys, double ops, long expiredUnreclaimed, long heapUsed, double cpuSeconds) {
    public static final String CSV_HEADER = "elapsed_ms,used_memory,used_memory_rss,keys,expired_keys,evicted_keys,ops";

    public static Sample of(long elapsedMillis, ServerInfo info, double ops) {
        return new Sample(elapsedMillis, field(info, "used_memory"), field(info, "used_memory_rss"), info.keys(),
                field(info, "expired_keys"), field(info, "evicted_keys"), ops,
                info.number("expired_unreclaimed_items").orElse(-1), info.number("heap_used").orElse(-1), cpu(info));
    }

    private static long field(ServerInfo info, String name) {
        OptionalLong value = info.number(name);
        if (value.isEmpty()) {
            throw new IllegalArgumentException("INFO has no number in the field " + name);
        }
        return value.getAsLong();
    }

    private static double cpu(ServerInfo info) {
        OptionalDouble user = info.decimal("used_cpu_user");
        OptionalDouble system = info.decimal("used_cpu_sys");
        return user.isPresent() && system.isPresent() ? user.getAsDouble() + system.getAsDouble() : Double.NaN;
    }

    public String csv() {
        return String.format(Locale.ROOT, "%d,%d,%d,%d,%d,%d,%.0f", elapsedMillis, usedMemory, usedMemoryRss, keys,
                expiredKeys, evictedKeys, ops);
    }

    /** Reads a row of {@code memory.csv}; values that the file does not contain are absent. */
    public static Sample parse(String row) {
        String[] cells = row.split(",", -1);
        if (cells.length != 7) {
            throw new IllegalArgumentException("memory.csv: a row of " + cells.length + " cells: " + row);
        }
        return new Sample(Long.parseLong(cells[0]), Long.parseLong(cells[1]), Long.parseLong(cells[2]),
                Long.parseLong(cells[3]), Long.parseLong(cells[4]), Long.parseLong(cells[5]),
                Double.parseDouble(cells[6]), -1, -1, Double.NaN);
    }
}
