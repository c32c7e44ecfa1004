package io.varve.server.admin;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.CacheStats;
import io.varve.server.config.Decimals;
import io.varve.server.config.MemoryUnits;

/** What MEMORY DOCTOR and MEMORY MALLOC-STATS say in words. Immutable: static methods only. */
public final class MemoryReport {
    /** Of less, ratios say nothing. */
    private static final long LEAST_BYTES = 5L << 20;
    /** What is lost has to be worth a word. */
    private static final long WORTH_BYTES = 10L << 20;
    private static final double HIGH_PEAK = 1.5;
    private static final double HIGH_DEAD = 1.4;
    /** What the JVM may take beside maxmemory. */
    private static final long EXPECTED_BESIDE_BYTES = 256L << 20;
    private static final long HIGH_BUFFER_BYTES_PER_CLIENT = 200 << 10;
    private static final double NEARLY_FULL = 0.95;
    private static final double MANY_EXPIRED = 0.1;

    private MemoryReport() {}

    /** What looks wrong, with what can be done about it; or that nothing does. */
    public static String diagnosis(MemoryFigures figures, int clients) {
        if (figures.usedBytes() < LEAST_BYTES) {
            return "Too little memory is in use (" + MemoryUnits.human(figures.usedBytes())
                    + ") for its ratios to mean anything. Ask again when there is some data.\n";
        }
        List<String> findings = findings(figures, clients);
        if (findings.isEmpty()) {
            return "No memory issue was found.\n";
        }
        StringBuilder text = new StringBuilder("What was found:\n\n");
        for (String finding : findings) {
            text.append(" * ").append(finding).append("\n\n");
        }
        return text.toString();
    }

    private static List<String> findings(MemoryFigures figures, int clients) {
        CacheStats stats = figures.stats();
        List<String> findings = new ArrayList<>();
        if (figures.peakBytes() > figures.usedBytes() * HIGH_PEAK) {
            findings.add("Peak: " + MemoryUnits.human(figures.peakBytes()) + " were in use at a time, now it is "
                    + MemoryUnits.human(figures.usedBytes())
                    + ". Free memory goes back to the system within seconds; MEMORY PURGE gives it back at once.");
        }
        if (figures.fragmentationRatio() > HIGH_DEAD && figures.fragmentationBytes() > WORTH_BYTES) {
            findings.add("Dead space: segments hold " + MemoryUnits.human(figures.fragmentationBytes())
                    + " that nobody can reach (allocator_frag_ratio " + Decimals.of(figures.fragmentationRatio(), 2)
                    + "). The cleaner takes it back as it is needed; if it stays, look at cleaner_reclaim_cost and"
                    + " cleaner-policy.");
        }
        if (figures.residentBytes() - stats.reservedBytes() > EXPECTED_BESIDE_BYTES) {
            findings.add("Beside the data: the process has " + MemoryUnits.human(figures.residentBytes())
                    + " resident, of which " + MemoryUnits.human(stats.reservedBytes())
                    + " are charged to maxmemory. The rest is the JVM's, of which "
                    + MemoryUnits.human(EXPECTED_BESIDE_BYTES)
                    + " are expected with the options that the launcher sets.");
        }
        if (clients > 0 && figures.bufferBytes() / clients > HIGH_BUFFER_BYTES_PER_CLIENT) {
            findings.add("Connections: " + clients + " clients hold " + MemoryUnits.human(figures.bufferBytes())
                    + " of buffers. CLIENT LIST shows whose omem and qbuf are large;"
                    + " client-output-buffer-limit cuts those off that do not read.");
        }
        if (stats.reservedBytes() > figures.maxMemoryBytes() * NEARLY_FULL && stats.evicted() > 0) {
            findings.add("The limit: maxmemory " + MemoryUnits.human(figures.maxMemoryBytes()) + " is used up, and "
                    + stats.evicted() + " keys were evicted.");
        }
        if (stats.expiredUnreclaimed() > stats.items() * MANY_EXPIRED) {
            findings.add("Expiry: " + stats.expiredUnreclaimed() + " of " + stats.items()
                    + " items are past their time and not reclaimed yet. Where this stays so, expiry does not keep up:"
                    + " look at expired_time_cap_reached_count, expire-algorithm and expire-cycle-ms.");
        }
        return findings;
    }

    /** How the memory is divided. */
    public static String ofAllocator(MemoryFigures figures) {
        CacheStats stats = figures.stats();
        StringBuilder text = new StringBuilder("Allocator: ").append(InfoReport.ALLOCATOR).append("\n\n");
        line(text, "limit (maxmemory)", figures.maxMemoryBytes());
        line(text, "charged to it, in use and free", stats.reservedBytes());
        line(text, "segments' size", stats.segmentSizeBytes());
        text.append("segments in use: ").append(stats.segmentsInUse()).append('\n');
        text.append("segments free: ").append(stats.segmentsFree()).append('\n');
        line(text, "live items", stats.liveBytes());
        line(text, "dead", stats.deadBytes());
        line(text, "index", stats.indexBytes());
        line(text, "time buckets", stats.expiryBytes());
        text.append("segments cleaned: ").append(stats.segmentsCleaned()).append('\n');
        text.append("segments freed whole: ").append(stats.segmentsFreedWhole()).append('\n');
        line(text, "moved by the cleaner", stats.bytesMoved());
        line(text, "reclaimed by the cleaner", stats.bytesReclaimed());
        line(text, "connections' buffers", figures.bufferBytes());
        line(text, "JVM heap used", ProcessMemory.heapUsedBytes());
        line(text, "JVM heap at most", ProcessMemory.heapMaxBytes());
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
