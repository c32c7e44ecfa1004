package io.varve.server.admin;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.CacheStats;
import io.varve.server.config.Decimals;

/**
 * What is told of memory, at one moment: in INFO, in MEMORY STATS and as metrics. Immutable.
 *
 * @param stats          the cache's own sums
 * @param bufferBytes    what connections hold for what was received and not executed, and for what was not yet sent
 * @param startupBytes   what was used before the first command
 * @param peakBytes      the most that was used since
 * @param residentBytes  of the process, as the system counts them
 * @param machineBytes   what the machine or the container has
 * @param maxMemoryBytes the limit
 */
public record MemoryFigures(CacheStats stats, long bufferBytes, long startupBytes, long peakBytes, long residentBytes,
        long machineBytes, long maxMemoryBytes) {
    /** Buffers up to so many bytes are not counted as used: every server has them. */
    static final long FREE_BUFFER_BYTES = 16L << 20;

    /** What a figure counts. */
    public enum Unit {
        BYTES("bytes"), RATIO("ratio"),
        /** A part of a whole, from 0 to 1, which INFO shows in percent. */
        PART("ratio"), COUNT("");

        private final String metricUnit;

        Unit(String metricUnit) {
            this.metricUnit = metricUnit;
        }

        /** The last word of the metric's name; empty: none. */
        String metricUnit() {
            return metricUnit;
        }
    }

    /**
     * One of them. Immutable.
     *
     * @param field   its name in INFO
     * @param metric  its name as a metric, behind {@code memory.} and in front of the unit
     * @param meaning in a few words
     * @param unit    of the value
     * @param value   what it is now
     * @param human   whether INFO shows the bytes in a form for people too
     */
    public record Figure(String field, String metric, String meaning, Unit unit, double value, boolean human) {
        /** As INFO shows it. */
        String text() {
            return switch (unit) {
                case BYTES, COUNT -> Long.toString((long) value);
                case RATIO -> Decimals.of(value, 2);
                case PART -> Decimals.of(100 * value, 2) + "%";
            };
        }
    }

    /** What counts towards the memory that is used, with buffers beyond those that every server has. */
    static long usedBytes(CacheStats stats, long bufferBytes) {
        return stats.usedBytes() + Math.max(0, bufferBytes - FREE_BUFFER_BYTES);
    }

    public long usedBytes() {
        return usedBytes(stats, bufferBytes);
    }

    /** Live and dead bytes in segments. */
    public long activeBytes() {
        return stats.liveBytes() + stats.deadBytes();
    }

    /** What is used and is neither key nor value. */
    public long overheadBytes() {
        return usedBytes() - stats.datasetBytes();
    }

    /** Dead space in segments: 1 is none. */
    public double fragmentationRatio() {
        return ratio(activeBytes(), stats.liveBytes());
    }

    public long fragmentationBytes() {
        return Math.max(0, activeBytes() - stats.liveBytes());
    }

    public double reservedRatio() {
        return ratio(stats.reservedBytes(), activeBytes());
    }

    public double residentOverReserved() {
        return ratio(residentBytes, stats.reservedBytes());
    }

    public double residentOverUsed() {
        return ratio(residentBytes, usedBytes());
    }

    public double datasetPart() {
        return ratio(stats.datasetBytes(), usedBytes());
    }

    public double peakPart() {
        return ratio(usedBytes(), peakBytes);
    }

    /** 0 where there is nothing to divide by. */
    static double ratio(long numerator, long denominator) {
        return denominator <= 0 ? 0 : (double) numerator / denominator;
    }

    /** Every figure of INFO's section, in its order: also those that are always 0 here, which clients look for. */
    public List<Figure> all() {
        List<Figure> all = new ArrayList<>();
        sums(all);
        scripts(all);
        limitAndRatios(all);
        parts(all);
        return all;
    }

    private void sums(List<Figure> all) {
        long used = usedBytes();
        readable(all, "used_memory", "used", "Memory in use: segments, runs, index, expiry, buffers", used);
        readable(all, "used_memory_rss", "rss", "Resident memory of the process", residentBytes);
        readable(all, "used_memory_peak", "peak", "The most memory in use since the start", peakBytes);
        part(all, "used_memory_peak_perc", "used.peak", "Memory in use over its peak", peakPart());
        bytes(all, "used_memory_overhead", "overhead", "Memory in use that is neither key nor value", overheadBytes());
        bytes(all, "used_memory_startup", "startup", "Memory in use before the first command", startupBytes);
        bytes(all, "used_memory_dataset", "dataset", "Keys and values that live", stats.datasetBytes());
        part(all, "used_memory_dataset_perc", "dataset", "Keys and values over memory in use", datasetPart());
        bytes(all, "allocator_allocated", "allocator.allocated", "Items that live, with their heads",
                stats.liveBytes());
        bytes(all, "allocator_active", "allocator.active", "Live and dead bytes in segments", activeBytes());
        bytes(all, "allocator_resident", "allocator.resident", "What is charged to maxmemory, in use and free",
                stats.reservedBytes());
        readable(all, "total_system_memory", "system", "Memory of the machine or container", machineBytes);
    }

    /** There are no scripts and functions. */
    private static void scripts(List<Figure> all) {
        readable(all, "used_memory_lua", "lua", "Always 0: there are no scripts", 0);
        bytes(all, "used_memory_vm_eval", "vm.eval", "Always 0: there are no scripts", 0);
        bytes(all, "used_memory_scripts_eval", "scripts.eval", "Always 0: there are no scripts", 0);
        count(all, "number_of_cached_scripts", "cached.scripts", "Always 0: there are no scripts");
        count(all, "number_of_functions", "functions", "Always 0: there are no functions");
        count(all, "number_of_libraries", "libraries", "Always 0: there are no functions");
        bytes(all, "used_memory_vm_functions", "vm.functions", "Always 0: there are no functions", 0);
        readable(all, "used_memory_vm_total", "vm", "Always 0: there are no scripts", 0);
        bytes(all, "used_memory_functions", "functions", "Always 0: there are no functions", 0);
        readable(all, "used_memory_scripts", "scripts", "Always 0: there are no scripts", 0);
    }

    private void limitAndRatios(List<Figure> all) {
        readable(all, "maxmemory", "max", "The limit", maxMemoryBytes);
        ratio(all, "allocator_frag_ratio", "allocator.frag", "Live and dead bytes in segments over live ones",
                fragmentationRatio());
        bytes(all, "allocator_frag_bytes", "allocator.frag", "Dead bytes in segments", fragmentationBytes());
        ratio(all, "allocator_rss_ratio", "allocator.rss", "What is charged over what is filled", reservedRatio());
        bytes(all, "allocator_rss_bytes", "allocator.rss", "What is charged and not filled",
                stats.reservedBytes() - activeBytes());
        ratio(all, "rss_overhead_ratio", "rss.overhead", "Resident memory over what is charged",
                residentOverReserved());
        bytes(all, "rss_overhead_bytes", "rss.overhead", "Resident memory that is not charged",
                residentBytes - stats.reservedBytes());
        ratio(all, "mem_fragmentation_ratio", "fragmentation", "Resident memory over memory in use",
                residentOverUsed());
        bytes(all, "mem_fragmentation_bytes", "fragmentation", "Resident memory that is not in use",
                residentBytes - usedBytes());
    }

    private void parts(List<Figure> all) {
        bytes(all, "mem_not_counted_for_evict", "not.counted.for.evict", "Always 0", 0);
        bytes(all, "mem_replication_backlog", "replication.backlog", "Always 0: there are no replicas", 0);
        bytes(all, "mem_total_replication_buffers", "replication.buffers", "Always 0: there are no replicas", 0);
        bytes(all, "mem_clients_slaves", "clients.slaves", "Always 0: there are no replicas", 0);
        bytes(all, "mem_clients_normal", "clients.normal", "Buffers of the connections", bufferBytes);
        bytes(all, "mem_cluster_links", "cluster.links", "Always 0: there is no cluster", 0);
        bytes(all, "mem_aof_buffer", "aof.buffer", "Always 0: there is no log", 0);
        count(all, "active_defrag_running", "active.defrag.running", "Always 0: segments are cleaned all the time");
        count(all, "lazyfree_pending_objects", "lazyfree.pending.objects", "Always 0: everything is freed in slices");
        count(all, "lazyfreed_objects", "lazyfreed.objects", "Always 0: everything is freed in slices");
    }

    private static void readable(List<Figure> all, String field, String metric, String meaning, long value) {
        all.add(new Figure(field, metric, meaning, Unit.BYTES, value, true));
    }

    private static void bytes(List<Figure> all, String field, String metric, String meaning, long value) {
        all.add(new Figure(field, metric, meaning, Unit.BYTES, value, false));
    }

    private static void ratio(List<Figure> all, String field, String metric, String meaning, double value) {
        all.add(new Figure(field, metric, meaning, Unit.RATIO, value, false));
    }

    private static void part(List<Figure> all, String field, String metric, String meaning, double value) {
        all.add(new Figure(field, metric, meaning, Unit.PART, value, false));
    }

    private static void count(List<Figure> all, String field, String metric, String meaning) {
        all.add(new Figure(field, metric, meaning, Unit.COUNT, 0, false));
    }
}
