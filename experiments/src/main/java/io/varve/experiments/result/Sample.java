package io.varve.experiments.result;

import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;

import io.varve.experiments.wire.ServerInfo;

/**
 * What INFO said at one moment. Immutable.
 *
 * @param elapsedMillis       since the run's FLUSHALL
 * @param usedMemory          bytes
 * @param usedMemoryRss       bytes
 * @param keys                of all databases, expired but unreclaimed ones included
 * @param expiredKeys         expired since the server's start
 * @param evictedKeys         evicted since the server's start, those that fell to flash apart
 * @param ops                 operations a second, as the load last reported; 0 while none runs
 * @param expiredUnreclaimed  the server's own count; -1 if it gives none
 * @param heapUsed            bytes of the server's heap; -1 if it gives none
 * @param cpuSeconds          CPU time of the server since its start; NaN if it gives none
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

    /** Reads a row of {@code memory.csv}; what that file does not hold is absent. */
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
