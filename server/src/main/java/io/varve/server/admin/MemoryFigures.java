package io.varve.server.admin;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.report.CacheStats;
import io.varve.server.config.Decimals;

/**
 * The memory figures of one moment, for INFO, MEMORY STATS and metrics. Immutable.
 *
 * @param stats the cache's own sums
 * @param bufferBytes bytes in connection buffers: received but not executed, or not yet sent
 * @param logBytes bytes of the append-only log that are not written yet
 * @param backlogBytes memory of the replication backlog
 * @param startupBytes bytes in use before the first command
 * @param peakBytes largest number of bytes in use since then
 * @param residentBytes resident memory of the process, as the system counts it
 * @param machineBytes memory of the machine or the container
 * @param maxMemoryBytes the limit
 * @param scripts scripts and libraries
 */
public record MemoryFigures(CacheStats stats, long bufferBytes, long logBytes, long backlogBytes,
        long startupBytes, long peakBytes,
        long residentBytes,
        long machineBytes, long maxMemoryBytes, ScriptFigures scripts) {
    /**
     * Scripts and libraries. Immutable.
     *
     * @param cached number of scripts that EVALSHA can run
     * @param cachedBytes heap of these scripts
     * @param valueBytes heap of the values of scripts, as the interpreters count it
     * @param libraries number of libraries of functions
     * @param functions number of their functions
     * @param libraryBytes heap of the libraries
     * @param functionValueBytes heap of the values of functions, as the interpreters count it
     */
    public record ScriptFigures(long cached, long cachedBytes, long valueBytes, long libraries, long functions,
            long libraryBytes, long functionValueBytes) {}

    /** Buffer bytes that do not count as used, since every server has them. */
    static final long FREE_BUFFER_BYTES = 16L << 20;

    /** The unit of a figure. */
    public enum Unit {
        BYTES("bytes"), RATIO("ratio"),
        /** A part of a whole, from 0 to 1, which INFO shows in percent. */
        PART("ratio"), COUNT("");

        private final String metricUnit;

        Unit(String metricUnit) {
            this.metricUnit = metricUnit;
        }

        /** The last word of the metric's name; empty: none. */
        public String metricUnit() {
            return metricUnit;
        }
    }

    /**
     * One figure. Immutable.
     *
     * @param field its name in INFO
     * @param metric its name as a metric, after {@code memory.} and before the unit
     * @param meaning its meaning in a few words
     * @param unit the unit of the value
     * @param value current value
     * @param human whether INFO also shows the bytes in a human-readable form
     */
    public record Figure(String field, String metric, String meaning, Unit unit, double value, boolean human) {
        /** The value as INFO shows it. */
        String text() {
            return switch (unit) {
                case BYTES, COUNT -> Long.toString((long) value);
                case RATIO -> Decimals.of(value, 2);
                case PART -> Decimals.of(100 * value, 2) + "%";
            };
        }
    }

    /** The used memory, including buffers beyond those that every server has. */
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

    /** Used bytes that are neither key nor value. */
    public long overheadBytes() {
        return usedBytes() - stats.datasetBytes();
    }

    /** Active bytes over live bytes: 1 means no dead space in segments. */
    public double fragmentationRatio() {
        return ratio(activeBytes(), stats.liveBytes());
    }

    public long fragmentationBytes() {
        return Math.max(0, activeBytes() - stats.liveBytes());
    }

    public double reservedRatio() {
        return ratio(stats.chargedBytes(), activeBytes());
    }

    public double residentOverReserved() {
        return ratio(residentBytes, stats.chargedBytes());
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

    /** 0 if the denominator is 0. */
    public static double ratio(long numerator, long denominator) {
        return denominator <= 0 ? 0 : (double) numerator / denominator;
    }

    /** All figures of INFO's section, in its order, including those that are always 0 here, which clients expect. */
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
        readable(all, "used_memory_peak", "peak", "Peak of memory in use since the start", peakBytes);
        part(all, "used_memory_peak_perc", "used.peak", "Memory in use over its peak", peakPart());
        bytes(all, "used_memory_overhead", "overhead", "Memory in use for neither keys nor values", overheadBytes());
        bytes(all, "used_memory_startup", "startup", "Memory in use before the first command", startupBytes);
        bytes(all, "used_memory_dataset", "dataset", "Live keys and values", stats.datasetBytes());
        part(all, "used_memory_dataset_perc", "dataset", "Keys and values over memory in use", datasetPart());
        bytes(all, "allocator_allocated", "allocator.allocated", "Live items with their headers",
                stats.liveBytes());
        bytes(all, "allocator_active", "allocator.active", "Live and dead bytes in segments", activeBytes());
        bytes(all, "allocator_resident", "allocator.resident", "Memory charged to maxmemory, in use and free",
                stats.chargedBytes());
        readable(all, "total_system_memory", "system", "Memory of the machine or container", machineBytes);
    }

    private void scripts(List<Figure> all) {
        long values = scripts.valueBytes();
        long ofFunctions = scripts.functionValueBytes();
        readable(all, "used_memory_lua", "lua", "Heap of the values of scripts", values);
        bytes(all, "used_memory_vm_eval", "vm.eval", "Heap of the values of scripts", values);
        bytes(all, "used_memory_scripts_eval", "scripts.eval", "Heap of cached scripts", scripts.cachedBytes());
        number(all, "number_of_cached_scripts", "cached.scripts", "Scripts that EVALSHA can run", scripts.cached());
        number(all, "number_of_functions", "functions", "Functions that FCALL can run", scripts.functions());
        number(all, "number_of_libraries", "libraries", "Libraries of functions", scripts.libraries());
        bytes(all, "used_memory_vm_functions", "vm.functions", "Heap of the values of functions", ofFunctions);
        readable(all, "used_memory_vm_total", "vm", "Heap of the values of scripts and functions",
                values + ofFunctions);
        bytes(all, "used_memory_functions", "functions", "Heap of libraries", scripts.libraryBytes());
        readable(all, "used_memory_scripts", "scripts", "Heap of cached scripts and libraries",
                scripts.cachedBytes() + scripts.libraryBytes());
    }

    private static void number(List<Figure> all, String name, String metric, String help, long value) {
        all.add(new Figure(name, metric, help, Unit.COUNT, value, false));
    }

    private void limitAndRatios(List<Figure> all) {
        readable(all, "maxmemory", "max", "The memory limit", maxMemoryBytes);
        ratio(all, "allocator_frag_ratio", "allocator.frag", "Live and dead bytes over live bytes in segments",
                fragmentationRatio());
        bytes(all, "allocator_frag_bytes", "allocator.frag", "Dead bytes in segments", fragmentationBytes());
        ratio(all, "allocator_rss_ratio", "allocator.rss", "Charged memory over filled memory", reservedRatio());
        bytes(all, "allocator_rss_bytes", "allocator.rss", "Charged memory that is not filled",
                stats.chargedBytes() - activeBytes());
        ratio(all, "rss_overhead_ratio", "rss.overhead", "Resident memory over charged memory",
                residentOverReserved());
        bytes(all, "rss_overhead_bytes", "rss.overhead", "Resident memory that is not charged",
                residentBytes - stats.chargedBytes());
        ratio(all, "mem_fragmentation_ratio", "fragmentation", "Resident memory over memory in use",
                residentOverUsed());
        bytes(all, "mem_fragmentation_bytes", "fragmentation", "Resident memory that is not in use",
                residentBytes - usedBytes());
    }

    private void parts(List<Figure> all) {
        all.add(new Figure("pinned_keys", "pinned.keys", "Keys that VARVE.PIN protects from eviction", Unit.COUNT,
                stats.pinnedItems(), false));
        bytes(all, "pinned_bytes", "pinned", "Items of these keys", stats.pinnedBytes());
        bytes(all, "mem_not_counted_for_evict", "not.counted.for.evict", "Always 0", 0);
        bytes(all, "mem_replication_backlog", "replication.backlog", "Change stream kept for replicas", backlogBytes);
        bytes(all, "mem_total_replication_buffers", "replication.buffers",
                "As mem_replication_backlog: replicas have no other buffers", backlogBytes);
        bytes(all, "mem_clients_slaves", "clients.slaves", "Always 0: replicas share the backlog", 0);
        bytes(all, "mem_clients_normal", "clients.normal", "Buffers of connections", bufferBytes);
        bytes(all, "mem_cluster_links", "cluster.links", "Always 0: there is no cluster", 0);
        bytes(all, "mem_aof_buffer", "aof.buffer", "Of the append-only log, not written yet", logBytes);
        count(all, "active_defrag_running", "active.defrag.running", "Always 0: the cleaner replaces defragmentation");
        count(all, "lazyfree_pending_objects", "lazyfree.pending.objects", "Always 0: memory is freed in slices");
        count(all, "lazyfreed_objects", "lazyfreed.objects", "Always 0: memory is freed in slices");
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
