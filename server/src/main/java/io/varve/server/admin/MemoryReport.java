package io.varve.server.admin;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.report.CacheStats;
import io.varve.server.config.Decimals;
import io.varve.server.config.MemoryUnits;

/** Formats the text of MEMORY DOCTOR and MEMORY MALLOC-STATS. Immutable: static methods only. */
public final class MemoryReport {
    /** Below this size ratios are meaningless. */
    private static final long MIN_BYTES = 5L << 20;
    /** Minimum loss that is worth a remark. */
    private static final long WORTH_BYTES = 10L << 20;
    private static final double HIGH_PEAK = 1.5;
    private static final double HIGH_DEAD = 1.4;
    /** Expected memory of the JVM beside maxmemory. */
    private static final long EXPECTED_BESIDE_BYTES = 256L << 20;
    private static final long HIGH_BUFFER_BYTES_PER_CLIENT = 200 << 10;
    private static final double NEARLY_FULL = 0.95;
    private static final double MANY_EXPIRED = 0.1;

    private MemoryReport() {}

    /** Lists the problems and their remedies, or reports that there are none. */
    public static String diagnosis(MemoryFigures figures, int clients) {
        if (figures.usedBytes() < MIN_BYTES) {
            return "Too little memory is in use (" + MemoryUnits.human(figures.usedBytes())
                    + ") for meaningful ratios. Try again when the server holds more data.\n";
        }
        List<String> findings = findings(figures, clients);
        if (findings.isEmpty()) {
            return "No memory issue was found.\n";
        }
        StringBuilder text = new StringBuilder("Findings:\n\n");
        for (String finding : findings) {
            text.append(" * ").append(finding).append("\n\n");
        }
        return text.toString();
    }

    private static List<String> findings(MemoryFigures figures, int clients) {
        CacheStats stats = figures.stats();
        List<String> findings = new ArrayList<>();
        if (figures.peakBytes() > figures.usedBytes() * HIGH_PEAK) {
            findings.add("Peak: " + MemoryUnits.human(figures.peakBytes()) + " were in use at the peak, now "
                    + MemoryUnits.human(figures.usedBytes())
                    + " are in use. The server returns free memory to the operating system within seconds; MEMORY"
                    + " PURGE returns it at once.");
        }
        if (figures.fragmentationRatio() > HIGH_DEAD && figures.fragmentationBytes() > WORTH_BYTES) {
            findings.add("Dead space: segments hold " + MemoryUnits.human(figures.fragmentationBytes())
                    + " of dead items (allocator_frag_ratio " + Decimals.of(figures.fragmentationRatio(), 2)
                    + "). The cleaner reclaims it on demand; if it stays, check cleaner_reclaim_cost and"
                    + " cleaner-policy.");
        }
        if (figures.residentBytes() - stats.chargedBytes() > EXPECTED_BESIDE_BYTES) {
            findings.add("Outside maxmemory: the process has " + MemoryUnits.human(figures.residentBytes())
                    + " resident, of which " + MemoryUnits.human(stats.chargedBytes())
                    + " are charged to maxmemory. The JVM uses the rest; "
                    + MemoryUnits.human(EXPECTED_BESIDE_BYTES)
                    + " are expected with the launcher's options.");
        }
        if (clients > 0 && figures.bufferBytes() / clients > HIGH_BUFFER_BYTES_PER_CLIENT) {
            findings.add("Connections: " + clients + " clients hold " + MemoryUnits.human(figures.bufferBytes())
                    + " of buffers. CLIENT LIST shows the clients with a large omem or qbuf;"
                    + " client-output-buffer-limit disconnects clients that do not read.");
        }
        if (stats.chargedBytes() > figures.maxMemoryBytes() * NEARLY_FULL && stats.evicted() > 0) {
            findings.add("Memory limit: maxmemory " + MemoryUnits.human(figures.maxMemoryBytes()) + " is used up, and "
                    + stats.evicted() + " keys have been evicted.");
        }
        if (stats.expiredUnreclaimed() > stats.items() * MANY_EXPIRED) {
            findings.add("Expiry: " + stats.expiredUnreclaimed() + " of " + stats.items()
                    + " items have expired and still hold memory. If this persists, expiry does not keep up:"
                    + " check expired_time_cap_reached_count, expire-algorithm and expire-cycle-ms.");
        }
        return findings;
    }

    /** Describes the division of the memory. */
    public static String ofAllocator(MemoryFigures figures) {
        CacheStats stats = figures.stats();
        StringBuilder text = new StringBuilder("Allocator: ").append(InfoReport.ALLOCATOR).append("\n\n");
        line(text, "limit (maxmemory)", figures.maxMemoryBytes());
        line(text, "charged to maxmemory, in use and free", stats.chargedBytes());
        line(text, "segment size", stats.segmentSizeBytes());
        text.append("segments in use: ").append(stats.segmentsInUse()).append('\n');
        text.append("segments free: ").append(stats.segmentsFree()).append('\n');
        line(text, "live items", stats.liveBytes());
        line(text, "dead", stats.deadBytes());
        line(text, "index", stats.indexBytes());
        line(text, "time buckets", stats.expiryBytes());
        text.append("segments cleaned: ").append(stats.segmentsCleaned()).append('\n');
        text.append("segments freed without a live item: ").append(stats.segmentsFreedWhole()).append('\n');
        line(text, "moved by the cleaner", stats.bytesMoved());
        line(text, "reclaimed by the cleaner", stats.bytesReclaimed());
        line(text, "connection buffers", figures.bufferBytes());
        line(text, "JVM heap used", ProcessMemory.heapUsedBytes());
        line(text, "JVM heap maximum", ProcessMemory.heapMaxBytes());
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            line(text, "JVM buffers, " + pool.getName(), Math.max(0, pool.getMemoryUsed()));
        }
        line(text, "resident", figures.residentBytes());
        return text.toString();
    }

    private static void line(StringBuilder text, String what, long bytes) {
        text.append(what).append(": ").append(bytes).append(" (").append(MemoryUnits.human(bytes)).append(")\n");
    }
}
